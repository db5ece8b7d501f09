/** Whether this browser has passkeys for the address of this page, and why not. */
export function passkeysHere(): 'yes' | 'insecure' | 'number' | 'browser' {
  if (!window.isSecureContext) return 'insecure';
  if (!('PublicKeyCredential' in window)) return 'browser';
  // A passkey belongs to a host name; an IP address does not qualify.
  return /^[\d.]+$|:/.test(window.location.hostname) ? 'number' : 'yes';
}
