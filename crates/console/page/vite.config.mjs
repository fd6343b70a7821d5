// Builds the page into ../assets: hashed names, no inline script or style, nothing from other origins.
import { defineConfig } from "vite";

/** With `crossorigin` a browser opens connections of their own for the script and the style. */
const sameConnection = { name: "same-connection", enforce: "post", transformIndexHtml: (html) => html.replaceAll(" crossorigin", "") };

export default defineConfig({
  base: "/",
  plugins: [sameConnection],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../assets",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "assets/[name]-[hash].js", chunkFileNames: "assets/[name]-[hash].js", assetFileNames: "assets/[name]-[hash][extname]" },
    },
  },
});
