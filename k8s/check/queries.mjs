// The metrics and labels that a PromQL query reads. Not a parser: it excludes keywords and functions by name.

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan', 'on', 'ignoring', 'by', 'without']);
const listed = /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

/**
 * The metrics of a query with the labels that are matched on each, and the labels that it groups or joins by. A histogram is
 * named as it is declared: without `_bucket`, `_sum` and `_count` when `declared` knows it so.
 */
export function readQuery(query, declared) {
  const grouped = new Set();
  let rest = query.replaceAll('$__rate_interval', '5m').replace(listed, (_, word, labels) => {
    for (const label of labels
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean))
      grouped.add(label);
    return ' ';
  });
  const metrics = [];
  const nameOf = (name) => {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return declared.has(name) || !declared.has(base) ? name : base;
  };
  rest = rest.replace(/([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g, (_, name, matchers) => {
    const labels = [...matchers.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"/g)].map(
      ([, label]) => label,
    );
    metrics.push({ name: nameOf(name), labels });
    return ' ';
  });
  // Left over: numbers with their units, functions, and metrics without matchers.
  rest = rest
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/"[^"]*"/g, ' ')
    .replace(/\b\d[\w.]*\b/g, ' ');
  for (const [, name, opens] of rest.matchAll(/([a-zA-Z_:][\w:]*)\s*(\(?)/g))
    if (opens === '' && !keywords.has(name)) {
      const isFunction = /^(sum|max|min|avg|count|topk|quantile|absent)$/.test(name);
      if (!isFunction) metrics.push({ name: nameOf(name), labels: [] });
    }
  return { metrics, grouped: [...grouped] };
}

/** The metrics that a process exports: name → labels seen on its samples. */
export function readExposition(text) {
  const exported = new Map();
  for (const [, name] of text.matchAll(/^# TYPE (\S+) \w+$/gm)) exported.set(name, new Set());
  for (const [, name, labels] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const base = exported.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    for (const [, label] of (labels ?? '').matchAll(/([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g))
      exported.get(base)?.add(label);
  }
  return exported;
}

/** Labels that Prometheus puts on every series of a target. */
const ofTheTarget = ['job', 'namespace', 'pod', 'instance', 'service', 'endpoint', 'container'];

/** Metrics and labels of a query that are not exported, as sentences. */
export function queryProblems(query, exported) {
  const { metrics, grouped } = readQuery(query, exported);
  const problems = [];
  if (metrics.length === 0) problems.push('it asks for no metric');
  for (const { name, labels } of metrics) {
    const known = exported.get(name);
    if (!known) problems.push(`there is no metric ${name}`);
    for (const label of labels)
      if (known && !known.has(label) && !ofTheTarget.includes(label)) problems.push(`${name} has no label ${label}`);
  }
  const all = new Set([...ofTheTarget, ...metrics.flatMap(({ name }) => [...(exported.get(name) ?? [])])]);
  for (const label of grouped) if (!all.has(label)) problems.push(`nothing in it has the label ${label}`);
  return problems.map((text) => `${text}: ${query.trim()}`);
}
