/** The chips for permissions and model, and the line above the composer while a mode does not ask. */
import { icon } from '../ui/icon.tsx';
import type { Setting } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { ShieldCheck } from '../ui/later-icons.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { effortOf, isDangerous, modeOf, modelOf, optionOf } from './settings.ts';

export const ShieldAlert = icon(
  'shield-alert',
  <>
    <path d="M20 13c0 5-3.5 7.5-7.66 8.95a1 1 0 0 1-.67-.01C7.5 20.5 4 18 4 13V6a1 1 0 0 1 1-1c2 0 4.5-1.2 6.24-2.72a1.17 1.17 0 0 1 1.52 0C14.51 3.81 17 5 19 5a1 1 0 0 1 1 1z" />
    <path d="M12 8v4" />
    <path d="M12 16h.01" />
  </>,
);
const Down = icon('chevron-down', <path d="m6 9 6 6 6-6" />);

interface ChipsProps {
  settings: readonly Setting[];
  /** The machine is away: these are its last values. */
  isOld: boolean;
  /** Bordered, with the effort as a chip of its own. */
  isForm?: boolean;
  onOpen: () => void;
}

const nameOf = (setting: Setting | undefined): string => (setting ? (optionOf(setting)?.name ?? setting.value) : '');

export function SettingChips({ settings, isOld, isForm = false, onOpen }: ChipsProps) {
  const mode = modeOf(settings);
  const model = modelOf(settings);
  const effort = nameOf(effortOf(settings));
  const danger = mode !== undefined && isDangerous(mode);
  const Shield = danger ? ShieldAlert : ShieldCheck;
  const chip = (label: string, text: string, dim: string, kind = '') => (
    <button type="button" className={`set-chip ${kind}`} aria-haspopup="dialog" aria-label={label} onClick={onOpen}>
      {kind !== 'model' && <Shield className="i" aria-hidden />}
      {isOld && <span className="hollow" aria-hidden />}
      <span className="cut">
        {text} {dim !== '' && <span className="dim">{dim}</span>}
      </span>
      <Down className="i dn" aria-hidden />
    </button>
  );
  const modelName = nameOf(model) || effort || (settings.length > 0 && !mode ? words.controls.more : '');
  return (
    <div className={isForm ? 'sets wrap' : 'sets'}>
      {mode && chip(words.controls.permissions(nameOf(mode), danger), nameOf(mode), '', danger ? 'danger' : 'mode')}
      {modelName !== '' &&
        chip(words.controls.model(modelName, model ? effort : ''), modelName, model ? effort : '', 'model')}
    </div>
  );
}

interface DangerNoteProps {
  mode: string;
  agent: string;
  machine: string;
  onAskAgain: (() => void) | undefined;
}

export function DangerNote({ mode, agent, machine, onAskAgain }: DangerNoteProps) {
  return (
    <div className="note bad full" role="status">
      <ShieldAlert className="i" aria-hidden />
      <span className="grow">
        <Sentence
          text={words.controls.on}
          mode={<strong>{words.controls.onName(mode)}</strong>}
          agent={words.controls.onAgent(agent)}
          machine={machine}
        />
      </span>
      {onAskAgain && (
        <button type="button" className="small" onClick={onAskAgain}>
          {words.controls.askAgain}
        </button>
      )}
    </div>
  );
}
