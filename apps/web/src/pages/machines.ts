/** One chunk: machines, their approval, and new sessions on them. */
export { DevicePage } from './device.tsx';
export { Devices } from './devices.tsx';
export { NewDevice } from './new-device.tsx';
export { NewSession } from './new-session.tsx';
export { RegisterDevice } from './register-device.tsx';
