import { Page } from '../ui/page.tsx';

export const NewSession = () => <Page title="NewSession">…</Page>;
