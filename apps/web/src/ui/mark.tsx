/** The mark: a message makes two hops. With a dot that travels along it, the sign that an agent works. */
export const Mark = () => (
  <svg className="mark" viewBox="0 0 26 26" aria-hidden="true">
    <path d="M4.6 18.6C5.6 7.4 11.6 7.4 13 17.4C13.7 12.6 16.4 11.4 18.2 13.6" />
    <circle className="z" cx="20" cy="17.6" r="2.7" />
  </svg>
);

export const WorkingSign = () => (
  <svg className="hop" viewBox="0 0 22 14" aria-hidden="true">
    <path d="M2 12C3.5 0 9.5 0 11 11C12 4 17.5 4 19 11" />
    <circle className="way" r="2.4" />
  </svg>
);
