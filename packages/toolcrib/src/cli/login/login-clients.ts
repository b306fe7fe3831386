/** What a client does in its login, as far as others can see it. */
export interface LoginClient {
  readonly title: string;
  /** How it compares the resource with its address: to the letter, or as a beginning of it. */
  readonly comparison: 'exact' | 'within';
  /** Connects from its vendor's servers, which reach public https addresses only. */
  readonly fromCloud: boolean;
  /** Its client id metadata document, if it has one that is known. */
  readonly document?: string;
  readonly registers: boolean;
  readonly redirectUri: string;
}

/** As of November 2026. The first one does what all of them must be content with. */
export const loginClients = {
  any: { title: 'a strict client', comparison: 'exact', fromCloud: false, registers: true, redirectUri: 'http://127.0.0.1:48271/callback' },
  'claude-code': {
    title: 'Claude Code',
    comparison: 'within',
    fromCloud: false,
    document: 'https://claude.ai/oauth/claude-code-client-metadata',
    registers: true,
    redirectUri: 'http://localhost:48271/callback',
  },
  claude: {
    title: 'Claude (connectors)',
    comparison: 'exact',
    fromCloud: true,
    registers: true,
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  },
  chatgpt: {
    title: 'ChatGPT',
    comparison: 'exact',
    fromCloud: true,
    registers: true,
    redirectUri: 'https://chatgpt.com/connector_platform_oauth_redirect',
  },
  vscode: { title: 'VS Code', comparison: 'exact', fromCloud: false, registers: true, redirectUri: 'http://127.0.0.1:33418/' },
  cursor: {
    title: 'Cursor',
    comparison: 'within',
    fromCloud: false,
    registers: true,
    redirectUri: 'cursor://anysphere.cursor-mcp/oauth/callback',
  },
  codex: { title: 'Codex CLI', comparison: 'within', fromCloud: false, registers: true, redirectUri: 'http://127.0.0.1:48271/callback' },
  gemini: {
    title: 'Gemini CLI',
    comparison: 'within',
    fromCloud: false,
    registers: true,
    redirectUri: 'http://localhost:48271/oauth/callback',
  },
} as const satisfies Record<string, LoginClient>;
