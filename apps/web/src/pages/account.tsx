import { Page } from '../ui/page.tsx';

export const Account = () => <Page title="Account">…</Page>;
