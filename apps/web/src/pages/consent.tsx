import { Page } from '../ui/page.tsx';

export const Consent = () => <Page title="Consent">…</Page>;
