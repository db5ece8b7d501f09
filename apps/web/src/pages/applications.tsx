import { Page } from '../ui/page.tsx';

export const Applications = () => <Page title="Applications">…</Page>;
