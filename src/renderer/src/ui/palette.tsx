import { Command as Cmdk } from 'cmdk';
import { Activity, ChevronRight, Layers } from 'lucide-react';
import { useLocation } from 'wouter';
import { COMMANDS, type Command } from '../../../shared/commands.ts';
import { formatWhen } from '../../../shared/format.ts';
import { useRoute } from '../api.ts';
import { useT } from '../i18n.tsx';
import { useUi } from '../state.ts';
import { useRunCommand, useShortcuts } from './commands.ts';
import { useSnapshot } from './hooks.ts';

/** Everything by name: commands, skills and the latest turns. */
export function Palette() {
  const t = useT();
  const open = useUi((state) => state.paletteOpen);
  const setOpen = useUi((state) => state.setPaletteOpen);
  useShortcuts();
  return (
    <Cmdk.Dialog
      open={open}
      onOpenChange={setOpen}
      label={t('palette.title')}
      overlayClassName="scrim"
      contentClassName="palette"
    >
      <Cmdk.Input placeholder={t('palette.title')} />
      <Cmdk.List label={t('palette.title')}>
        <Cmdk.Empty>{t('palette.none')}</Cmdk.Empty>
        {open ? <Results onDone={() => setOpen(false)} /> : null}
      </Cmdk.List>
    </Cmdk.Dialog>
  );
}

function Results({ onDone }: { onDone: () => void }) {
  const t = useT();
  const snapshot = useSnapshot();
  const run = useRunCommand();
  const [, navigate] = useLocation();
  const skills = useRoute('skills.list', {});
  const turns = useRoute('turns.list', { limit: 30, kind: 'main' });
  const shown = COMMANDS.filter((command) => command.id !== 'palette' && (command.when?.(snapshot) ?? true));
  const go = (path: string) => {
    onDone();
    navigate(path);
  };
  const choose = (command: Command) => {
    onDone();
    run(command.id);
  };
  return (
    <>
      <Cmdk.Group heading={t('palette.commands')}>
        {shown.map((command) => (
          <Cmdk.Item key={command.id} value={t(command.title)} onSelect={() => choose(command)}>
            <ChevronRight aria-hidden="true" />
            <span className="grow">{t(command.title)}</span>
          </Cmdk.Item>
        ))}
      </Cmdk.Group>
      <Cmdk.Group heading={t('palette.skills')}>
        {(skills.data?.skills ?? []).map((skill) => (
          <Cmdk.Item
            key={skill.name}
            value={`${skill.name} ${skill.description}`}
            onSelect={() => go(`/skills/library/${encodeURIComponent(skill.name)}`)}
          >
            <Layers aria-hidden="true" />
            <span className="grow cut">{skill.name}</span>
          </Cmdk.Item>
        ))}
      </Cmdk.Group>
      <Cmdk.Group heading={t('palette.turns')}>
        {(turns.data?.turns ?? []).map((turn) => (
          <Cmdk.Item
            key={turn.id}
            value={`${turn.userText} ${turn.id}`}
            onSelect={() => go(`/activity/${encodeURIComponent(turn.id)}`)}
          >
            <Activity aria-hidden="true" />
            <span className="grow cut">{turn.userText}</span>
            <span className="sm t3">{formatWhen(turn.startedAt, Date.now(), t.locale)}</span>
          </Cmdk.Item>
        ))}
      </Cmdk.Group>
    </>
  );
}
