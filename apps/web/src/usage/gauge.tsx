/** How full the context is, as a ring. */
export const Gauge = ({ percent, large = false }: { percent: number; large?: boolean }) => (
  <svg className={`gauge${large ? ' lg' : ''}${percent > 80 ? ' near' : ''}`} viewBox="0 0 24 24" aria-hidden>
    <circle cx="12" cy="12" r="8.5" />
    <circle className="v" cx="12" cy="12" r="8.5" pathLength="100" strokeDasharray={`${percent} 100`} />
  </svg>
);
