/** States of a call. */
export const isFinished = ({ status }: { status: string }): boolean => status !== 'pending' && status !== 'running';
/** It never did what it was called for, or not all of it. */
export const didNotRun = (status: string): boolean => ['cancelled', 'rejected', 'interrupted'].includes(status);
