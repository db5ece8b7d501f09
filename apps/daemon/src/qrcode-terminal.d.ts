/** The package has no types of its own. */
declare module 'qrcode-terminal' {
  const qrcode: { generate(text: string, options: { small?: boolean }, done: (drawing: string) => void): void };
  export default qrcode;
}
