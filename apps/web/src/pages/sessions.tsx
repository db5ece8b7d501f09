import { Page } from '../ui/page.tsx';

export const Sessions = () => <Page title="Sessions">…</Page>;
