export { openEmbedder, type Embedder } from './embedder.ts';
