/** One chunk: ways in that are taken once. */
export { Consent } from './consent.tsx';
export { CreateAccount } from './create-account.tsx';
export { Elsewhere } from './elsewhere.tsx';
export { ErrorPage } from './error.tsx';
export { SignIn } from './sign-in.tsx';
