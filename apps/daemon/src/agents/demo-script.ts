/** The conversation that is played when none is given. */
export const demoScriptFile = new URL('../../scripts/demo.json', import.meta.url);
