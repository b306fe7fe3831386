/** https://graphql.github.io/graphql-over-http/draft/: older services know only the second type of `accept`. */
export const requestHeaders = {
  'content-type': 'application/json',
  accept: 'application/graphql-response+json, application/json;q=0.9',
  'user-agent': 'toolcrib',
} as const;
