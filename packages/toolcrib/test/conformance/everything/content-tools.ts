import type { FixtureTools } from './fixture-tool.ts';
import { audio, embedded, image, text } from './samples.ts';

/** Tools that answer at once, each with another kind of content. */
export const contentTools: FixtureTools = {
  test_simple_text: {
    description: 'Returns a text',
    run: () => ({ content: [text('This is a simple text response for testing.')] }),
  },
  test_image_content: { description: 'Returns an image', run: () => ({ content: [image] }) },
  test_audio_content: { description: 'Returns a sound', run: () => ({ content: [audio] }) },
  test_embedded_resource: {
    description: 'Returns a resource within its result',
    run: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  },
  test_multiple_content_types: {
    description: 'Returns a text, an image and a resource',
    run: () => ({
      content: [
        text('Multiple content types test:'),
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    description: 'Fails',
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
};
