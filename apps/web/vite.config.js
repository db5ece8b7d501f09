import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const relay = 'http://localhost:4000';

export default defineConfig({
  // The relay writes its own address in front when it serves the page: it may live under a path.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2022',
    // Small files inside of others would need `data:` in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // The polyfill of preloading is for browsers that cannot do the rest either.
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        // Words by language and part: `en-frame`.
        chunkFileNames: ({ facadeModuleId }) => {
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
