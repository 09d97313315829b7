import { GraduationCap, House, Layers } from 'lucide-react';
import { useT } from '../../i18n.tsx';
import { StepFrame, type StepProps } from './frame.tsx';

/** What the product does and what leaves the machine. */
export function What(step: StepProps) {
  const t = useT();
  const points = [
    [Layers, t('setup.what1'), t('setup.what1Detail')],
    [GraduationCap, t('setup.what2'), t('setup.what2Detail')],
    [House, t('setup.what3'), t('setup.what3Detail')],
  ] as const;
  return (
    <StepFrame title={t('setup.whatTitle')} lead={t('setup.whatLead')} step={step}>
      <ul className="panel points">
        {points.map(([Icon, title, detail]) => (
          <li className="line-item" key={title}>
            <span className="t3">
              <Icon aria-hidden="true" />
            </span>
            <div className="grow">
              <div className="med">{title}</div>
              <div className="t2">{detail}</div>
            </div>
          </li>
        ))}
      </ul>
    </StepFrame>
  );
}
