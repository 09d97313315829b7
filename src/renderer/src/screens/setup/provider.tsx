import { Cloud, Eye, EyeOff, Link2, Server, SquareTerminal } from 'lucide-react';
import { RadioGroup } from 'radix-ui';
import { useEffect, useRef, useState } from 'react';
import type { LocalServer, ProviderPreset } from '../../../../shared/contract.ts';
import { useRoute } from '../../api.ts';
import { useT } from '../../i18n.tsx';
import { useUi } from '../../state.ts';
import { InlineError, SkeletonRows } from '../../ui/feedback.tsx';
import { Button, Field, IconButton, Segments } from '../../ui/primitives.tsx';
import { useDraft, type Wire } from './draft.ts';
import { StepFrame, type StepProps } from './frame.tsx';
import { type FixTarget, ProviderTestPanel, useProviderTest } from './test-panel.tsx';

/** Cards that are shown before "More providers". */
const FIRST = ['openai', 'anthropic', 'openrouter', 'ollama', 'lmstudio', 'custom'];

/** Which model answers: a preset or a server found on this computer, tried live while it is filled in. */
export function Provider(step: StepProps) {
  const t = useT();
  const host = useUi((state) => state.host);
  const { draft } = useDraft();
  const test = useProviderTest();
  const lead =
    host === null
      ? t('setup.providerLead')
      : t(host.secrets.kind === 'keychain' ? 'setup.providerLeadKeychain' : 'setup.providerLeadFile');
  const passed = test.result?.ok === true;
  const fields = {
    address: useRef<HTMLInputElement>(null),
    key: useRef<HTMLInputElement>(null),
    model: useRef<HTMLInputElement>(null),
  };
  const fix = (target: FixTarget) => {
    fields[target].current?.focus();
    fields[target].current?.select();
  };
  return (
    <StepFrame
      title={t('setup.providerTitle')}
      lead={lead}
      step={step}
      actions={
        passed || draft.provider === null ? (
          <Button tone="primary" disabled={draft.provider === null} onClick={step.next}>
            {t('common.continue')}
          </Button>
        ) : (
          <>
            <span className="sm t3 hide-narrow">{t('setup.goAnywayNote')}</span>
            <Button onClick={step.next} disabled={draft.program === null && draft.baseUrl.trim() === ''}>
              {t('setup.goAnyway')}
            </Button>
          </>
        )
      }
    >
      <Presets />
      {draft.provider === null ? null : (
        <>
          <Form fields={fields} models={test.result?.models ?? []} keyFailed={test.failedAt === 'key'} />
          <ProviderTestPanel test={test} onFix={fix} />
        </>
      )}
    </StepFrame>
  );
}

function Presets() {
  const t = useT();
  const presets = useRoute('setup.presets', {});
  const local = useRoute('setup.detectLocal', {});
  const { draft, choose } = useDraft();
  const [showAll, setShowAll] = useState(false);
  if (presets.isError) return <InlineError error={presets.error} onRetry={() => void presets.refetch()} />;
  if (presets.data === undefined) return <SkeletonRows rows={3} />;
  const found = new Map((local.data ?? []).map((server) => [server.preset, server]));
  const isFirst = (preset: ProviderPreset) =>
    FIRST.includes(preset.id) || found.has(preset.id) || preset.id === draft.provider;
  // A program takes no tools of an agent's: it is there to be found, not the first choice.
  const place = (preset: ProviderPreset) =>
    preset.program === null ? FIRST.indexOf(preset.id) : FIRST.length;
  const first = [...presets.data].filter(isFirst).sort((a, b) => place(a) - place(b));
  const rest = presets.data.filter((preset) => !isFirst(preset));
  const shown = showAll ? [...first, ...rest] : first;
  return (
    <>
      <RadioGroup.Root
        className="tiles"
        aria-label={t('setup.presets')}
        value={draft.provider ?? ''}
        onValueChange={(id) => {
          const preset = presets.data.find((candidate) => candidate.id === id);
          if (preset !== undefined) choose(preset, found.get(id));
        }}
      >
        {shown.map((preset) => (
          <Tile
            key={preset.id}
            preset={preset}
            found={found.get(preset.id)}
            looking={preset.local && local.isPending}
          />
        ))}
      </RadioGroup.Root>
      {rest.length === 0 ? null : (
        <button type="button" className="linkish sm more-tiles" onClick={() => setShowAll(!showAll)}>
          {showAll ? t('setup.fewerProviders') : t('setup.moreProviders')}
        </button>
      )}
    </>
  );
}

function Tile(props: { preset: ProviderPreset; found: LocalServer | undefined; looking: boolean }) {
  const t = useT();
  const { preset, found } = props;
  const Icon =
    preset.id === 'custom' ? Link2 : preset.program ? SquareTerminal : preset.local ? Server : Cloud;
  const hint = () => {
    if (preset.id === 'custom') return t('setup.customHint');
    if (!preset.local) return preset.hint;
    if (props.looking) return t('setup.looking');
    if (preset.program !== null)
      return t(found === undefined ? 'setup.programNotFound' : 'setup.programFound');
    return found === undefined ? t('setup.notFound') : t('setup.found', { count: found.models.length });
  };
  return (
    <RadioGroup.Item value={preset.id} className="tile">
      <span className="t3">
        <Icon aria-hidden="true" />
      </span>
      <span className="grow">
        <span className="cut tile-line">{preset.id === 'custom' ? t('setup.custom') : preset.name}</span>
        <span className="sm t3 two-lines">{hint()}</span>
      </span>
    </RadioGroup.Item>
  );
}

interface Fields {
  address: React.RefObject<HTMLInputElement | null>;
  key: React.RefObject<HTMLInputElement | null>;
  model: React.RefObject<HTMLInputElement | null>;
}

function Form({
  fields,
  models,
  keyFailed,
}: {
  fields: Fields;
  models: readonly string[];
  keyFailed: boolean;
}) {
  const t = useT();
  const { draft, change } = useDraft();
  const presets = useRoute('setup.presets', {});
  const storedKey = useRoute('config.get', { path: 'llm.api_key' });
  const storedProvider = useRoute('config.get', { path: 'llm.provider' });
  const preset = presets.data?.find((candidate) => candidate.id === draft.provider);
  const isStored = storedKey.data?.isSet === true && storedProvider.data?.value === draft.provider;
  const needsKey = preset?.needsKey ?? true;
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (draft.apiKey === '') setShown(false);
  }, [draft.apiKey]);
  const keyHint = isStored
    ? t('setup.keyStored')
    : preset?.local
      ? t('setup.keyOptional')
      : t('setup.keyHint');
  return (
    <div className="form">
      {draft.program === null ? (
        <Field
          id="setup-address"
          label={t('setup.address')}
          end={
            draft.provider === 'custom' ? (
              <Segments<Wire>
                label={t('setup.wire')}
                value={draft.wire}
                options={[
                  { value: 'auto', label: t('setup.wireAuto') },
                  { value: 'openai', label: 'OpenAI' },
                  { value: 'anthropic', label: 'Anthropic' },
                ]}
                onChange={(wire) => change({ wire })}
              />
            ) : null
          }
        >
          <div className="input lg">
            <input
              id="setup-address"
              ref={fields.address}
              spellCheck={false}
              autoComplete="off"
              placeholder="https://"
              value={draft.baseUrl}
              onChange={(event) => change({ baseUrl: event.target.value })}
            />
          </div>
        </Field>
      ) : null}
      {needsKey || preset?.id === 'custom' || draft.apiKey !== '' ? (
        <Field id="setup-key" label={t('setup.key')} hint={keyHint}>
          <div className={keyFailed ? 'input lg bad' : 'input lg'}>
            <input
              id="setup-key"
              ref={fields.key}
              className="mono"
              type={isShown ? 'text' : 'password'}
              aria-describedby="setup-key-hint"
              aria-invalid={keyFailed}
              spellCheck={false}
              autoComplete="off"
              value={draft.apiKey}
              onChange={(event) => change({ apiKey: event.target.value.trim() })}
            />
            {draft.apiKey === '' ? null : (
              <IconButton
                small
                label={isShown ? t('setup.keyHide') : t('setup.keyShow')}
                onClick={() => setShown(!isShown)}
              >
                {isShown ? <EyeOff aria-hidden="true" /> : <Eye aria-hidden="true" />}
              </IconButton>
            )}
          </div>
        </Field>
      ) : null}
      <Field id="setup-model" label={t('setup.model')}>
        <div className="input lg">
          <input
            id="setup-model"
            ref={fields.model}
            placeholder={t('setup.modelHint')}
            list="setup-models"
            spellCheck={false}
            autoComplete="off"
            value={draft.model}
            onChange={(event) => change({ model: event.target.value })}
          />
          <datalist id="setup-models">
            {models.map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
        </div>
      </Field>
    </div>
  );
}
