import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const relay = 'http://localhost:4000';

/** Passes the files of this build to the worker. Its own bytes change with them, so that browsers see a new version. */
const worker = {
  name: 'relay-worker',
  apply: 'build',
  writeBundle({ dir }, bundle) {
    const path = join(dir, 'sw.js');
    const text = readFileSync(path, 'utf8');
    const files = Object.keys(bundle).filter((name) => name.startsWith('assets/'));
    const page = readFileSync(join(dir, 'index.html'), 'utf8');
    const build = createHash('sha256')
      .update(JSON.stringify([files, page, text]))
      .digest('hex')
      .slice(0, 12);
    const told = text
      .replace('const files = [];', `const files = ${JSON.stringify(files)};`)
      .replace("const build = '';", `const build = '${build}';`);
    writeFileSync(path, told);
  },
};

/** Names the files of the pages, which the first script imports, in the document: a browser loads them at once. */
const pagesAhead = {
  name: 'relay-pages-ahead',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      const files = new Set();
      const add = (file) => {
        if (files.has(file)) return;
        files.add(file);
        for (const one of bundle[file].imports) add(one);
      };
      add(Object.values(bundle).find(({ facadeModuleId }) => facadeModuleId?.endsWith('/src/root.tsx')).fileName);
      return [...files]
        .filter((file) => !html.includes(file))
        .map((file) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${file}` },
          injectTo: 'head',
        }));
    },
  },
};

export default defineConfig({
  // The relay writes its own address in front when it serves the page: its address can have a path.
  base: './',
  plugins: [react(), pagesAhead, worker],
  build: {
    target: 'es2022',
    // Small files inside of others would need `data:` in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // The polyfill of preloading is for browsers that cannot do the rest either.
    modulePreload: { polyfill: false },
    rollupOptions: {
      // Its files create an object each on load, which keeps unused ones.
      treeshake: { moduleSideEffects: [{ test: /\/node_modules\/diff\//, sideEffects: false }] },
      output: {
        // Used by the first pages and by later ones: one file instead of nine.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'shared',
              test: /node_modules\/(?:react|regexparam|wouter|use-sync-external-store)\/|\/src\/(?:rooms|api\/words|sessions\/attention|ui\/(?:action|composing|icons?|loaded-later|notice|resource|sending|time))\.tsx?$/,
            },
          ],
        },
        // Texts by language and part: `en-frame`.
        chunkFileNames: ({ facadeModuleId }) => {
          if (/\/node_modules\/remend\//.test(facadeModuleId ?? '')) return 'assets/mend-[hash].js';
          const [, language, part] = /languages\/(\w+)\/(\w+)\.ts$/.exec(facadeModuleId ?? '') ?? [];
          return language === undefined ? 'assets/[name]-[hash].js' : `assets/${language}-${part}-[hash].js`;
        },
      },
    },
  },
  // `PUBLIC_URL=http://localhost:5173 npm start` beside this.
  server: {
    strictPort: true,
    proxy: { '/api': relay, '/auth': relay, '/.well-known': relay, '/ws': { target: relay, ws: true } },
  },
});
