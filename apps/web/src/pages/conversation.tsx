import { Page } from '../ui/page.tsx';

export const Conversation = () => <Page title="Conversation">…</Page>;
