/** A tool call: one row with the action, and its result inside. */
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
import { Check, ChevronRight, CircleHelp, Clock, Search, Trash2, X } from '../../ui/icons.tsx';
import { lasted, timeOf, words } from '../../catalogue.ts';
import { Elapsed } from './elapsed.tsx';
import { Diffs } from './diff-screen.tsx';
import { DiffCounts } from './diff-view.tsx';
import type { ToolShape } from './shape.ts';
import { Terminal } from './terminal.tsx';
import { beganAt, targetOf, tookOf, verbOf } from './tool-state.ts';

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

function iconOf({ status, does }: ToolShape): IconComponent {
  if (status === 'pending') return Clock;
  if (status === 'unknown') return CircleHelp;
  if (status === 'rejected' || status === 'cancelled') return Ban;
  if (status === 'running' && does !== 'execute') return LoaderCircle;
  return icons[does ?? ''] ?? Wrench;
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
  // Failed calls and changes are open by default; a person's choice stays.
  const isOpen = inside !== undefined && (chosen ?? (tool.status === 'failed' || tool.diffs.length > 0));
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
      <PermissionLine tool={tool} />
      {isOpen && (
        <div className="inside" id={id}>
          {inside}
        </div>
      )}
    </div>
  );
});

/** The answer to the permission of a call, with its place and its time. */
function PermissionLine({ tool: { asked, status } }: { tool: ToolShape }): ReactNode {
  if (!asked?.answer) return null;
  const { answer, choice, by, at } = asked;
  return (
    <p className="asked num">
      {[choice, words.tool.answered(answer === status ? undefined : answer, by), timeOf(at ?? '')]
        .filter(Boolean)
        .join(' · ')}
    </p>
  );
}

function Outcome({ tool, at }: { tool: ToolShape; at: string }): ReactNode {
  const { status, exit, diffs } = tool;
  if (status === 'running') return <Elapsed since={beganAt(tool, at)} />;
  if (status !== 'completed' && status !== 'failed') return null;
  const counts = diffs.reduce((sum, diff) => ({ added: sum.added + diff.added, removed: sum.removed + diff.removed }), {
    added: 0,
    removed: 0,
  });
  const took = tookOf(tool, at);
  const isGood = status === 'completed' && (exit ?? 0) === 0;
  return (
    <>
      {exit !== undefined && exit !== 0 && <span>{words.tool.exit(exit)}</span>}
      {took !== undefined && took >= 1000 && <span>{lasted(took)}</span>}
      <DiffCounts diff={counts} />
      {status === 'failed' && <X className="i no" aria-hidden />}
      {isGood && <Check className="i ok" role="img" aria-label={words.tool.done} />}
    </>
  );
}

/** Undefined if the row is complete by itself. */
function insideOf(uuid: string, tool: ToolShape): ReactNode {
  const { diffs, output, input, command, left, data, status, about, title } = tool;
  const target = targetOf(tool);
  const rows: ReactNode[] = [];
  if (command?.includes('\n'))
    rows.push(
      <pre key="command" className="plain">
        {command}
      </pre>,
    );
  if (about?.trim() && about !== title && about !== command)
    rows.push(
      <p key="about" className="pad soft">
        {about}
      </p>,
    );
  // A diff shows all that was asked for.
  if (diffs.length > 0)
    rows.push(
      <Diffs key="diffs" diffs={diffs} isDone={status === 'completed'} isNamed={diffs[0]?.path === target.text} />,
    );
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
