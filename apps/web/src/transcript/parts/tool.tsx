/** A call of a tool: one row that says what it did, and what came of it inside. */
import { type ReactNode, memo, useId, useState } from 'react';
import type { IconComponent } from '../../ui/icon.tsx';
import {
  Ban,
  BookOpen,
  Brain,
  ChevronDown,
  Globe,
  LoaderCircle,
  Pencil,
  Terminal as TerminalIcon,
  Wrench,
} from '../icons.tsx';
import { Check, ChevronRight, Clock, Search, Trash2, X } from '../../ui/icons.tsx';
import { words } from '../../catalogue.ts';
import { Elapsed } from './elapsed.tsx';
import { Diffs } from './diff-screen.tsx';
import { DiffCounts } from './diff-view.tsx';
import type { ToolShape } from './shape.ts';
import { Terminal } from './terminal.tsx';
import { didNotRun } from './tool-state.ts';

const icons: Readonly<Record<string, IconComponent>> = {
  read: BookOpen,
  edit: Pencil,
  delete: Trash2,
  move: Pencil,
  search: Search,
  execute: TerminalIcon,
  think: Brain,
  fetch: Globe,
};

function verbOf({ status, does }: ToolShape): string {
  if (status === 'pending') return words.tool.waiting;
  if (status === 'running') return words.tool.now(does);
  if (status === 'failed') return words.tool.failed;
  if (status === 'cancelled') return words.tool.cancelled;
  if (status === 'interrupted') return words.tool.interrupted;
  if (status === 'rejected') return words.tool.rejected;
  return words.tool.past(does);
}

function iconOf({ status, does }: ToolShape): IconComponent {
  if (status === 'pending') return Clock;
  if (didNotRun(status)) return Ban;
  if (status === 'running' && does !== 'execute') return LoaderCircle;
  return icons[does ?? ''] ?? Wrench;
}

/** The target of a tool call, in one line. */
function targetOf({ command, paths, title, name }: ToolShape): { text: string; isCode: boolean } {
  if (command) return { text: command.split('\n')[0]!, isCode: true };
  if (paths.length === 1) return { text: paths[0]!, isCode: true };
  return { text: title === '' ? (name ?? '') : title, isCode: false };
}

interface ToolProps {
  uuid: string;
  tool: ToolShape;
  at: string;
}

export const Tool = memo(function Tool({ uuid, tool, at }: ToolProps) {
  const id = useId();
  const inside = insideOf(uuid, tool);
  const [chosen, setChosen] = useState<boolean>();
  // Failed calls and small changes are open by default; a person's choice stays.
  const changed = tool.diffs.reduce((sum, { added, removed }) => sum + added + removed, 0);
  const isOpen = inside !== undefined && (chosen ?? (tool.status === 'failed' || (changed > 0 && changed <= 40)));
  const Icon = iconOf(tool);
  const target = targetOf(tool);
  const content = (
    <>
      <Icon className={tool.status === 'running' && Icon === LoaderCircle ? 'i ring' : 'i'} aria-hidden />
      <span className="v">{verbOf(tool)}</span>
      {target.isCode ? <code className="cut">{target.text}</code> : <span className="t cut">{target.text}</span>}
      <span className="r num">
        <Outcome tool={tool} at={at} />
        {inside !== undefined &&
          (isOpen ? <ChevronDown className="i" aria-hidden /> : <ChevronRight className="i" aria-hidden />)}
      </span>
    </>
  );
  const className = tool.status === 'running' ? 'tool now' : 'tool';
  return (
    <div className="call" data-status={tool.status}>
      {inside === undefined ? (
        <div className={className}>{content}</div>
      ) : (
        <button
          type="button"
          className={className}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setChosen(!isOpen)}
        >
          {content}
        </button>
      )}
      {isOpen && (
        <div className="inside" id={id}>
          {inside}
        </div>
      )}
    </div>
  );
});

function Outcome({ tool, at }: { tool: ToolShape; at: string }): ReactNode {
  const { status, exit, diffs } = tool;
  if (status === 'running') return <Elapsed since={at} />;
  if (status === 'pending' || didNotRun(status)) return null;
  const counts = diffs.reduce((sum, diff) => ({ added: sum.added + diff.added, removed: sum.removed + diff.removed }), {
    added: 0,
    removed: 0,
  });
  return (
    <>
      {exit !== undefined && exit !== 0 && <span>{words.tool.exit(exit)}</span>}
      <DiffCounts diff={counts} />
      {status === 'failed' ? (
        <X className="i no" aria-hidden />
      ) : (
        <Check className="i ok" role="img" aria-label={words.tool.done} />
      )}
    </>
  );
}

/** Undefined when the row says everything. */
function insideOf(uuid: string, tool: ToolShape): ReactNode {
  const { diffs, output, input, command, left, data, status } = tool;
  const target = targetOf(tool);
  const rows: ReactNode[] = [];
  if (command?.includes('\n'))
    rows.push(
      <pre key="command" className="plain">
        {command}
      </pre>,
    );
  // A diff shows all that was asked for.
  if (diffs.length > 0) rows.push(<Diffs key="diffs" diffs={diffs} isNamed={diffs[0]?.path === target.text} />);
  else if (input && input !== command)
    rows.push(
      <pre key="input" className="plain" tabIndex={0} role="region" aria-label={words.tool.given}>
        {input}
      </pre>,
    );
  if (output?.trim())
    rows.push(
      <Terminal
        key="output"
        uuid={uuid}
        text={output}
        label={words.tool.output(target.text)}
        {...(left === undefined ? {} : { left })}
        {...(data === undefined ? {} : { name: data })}
      />,
    );
  else if (status === 'failed' && rows.length === 0)
    rows.push(
      <p key="none" className="pad">
        {words.tool.noOutput}
      </p>,
    );
  return rows.length === 0 ? undefined : rows;
}
