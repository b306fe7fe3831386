/** The answer of both echo servers: an object of the shape and size of Toolcrib's own answer, with the arguments of the request. */
export function echoAnswer(body: unknown): object {
  return {
    call_id: '019a89a2-0000-7000-8000-000000000000',
    tool_id: 'tool_000000000000000000000000',
    tool: 'builtin:calculator',
    success: true,
    status: 'completed',
    is_error: false,
    content: [{ type: 'text', text: '{"result":42}' }],
    structured_content: { result: 42 },
    result: (body as { arguments: unknown }).arguments,
    text: '42',
    error: null,
    execution_time_ms: 0.0123,
    metadata: { attempts: 1, source_id: '00000000-0000-4000-8000-000000000001' },
  };
}
