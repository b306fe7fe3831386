import type { PollProfile } from './poll-profile.ts';

/** [HTTP-1] One operation of an OpenAPI document, or one tool of a UTCP manual, with all that is needed to make a request of a tool's arguments. Stored with the tool. */
export interface HttpOperation {
  /** As the document has it; null where it has none. */
  operation_id: string | null;
  /** In capital letters. */
  method: string;
  /** As the document writes it, with `{names}` in it. */
  path: string;
  /** The address that the path is put behind, without a slash at its end: chosen, its variables filled in, absolute. */
  server: string;
  parameters: HttpParameter[];
  /** [UTCP-1] Where every argument goes that has no other place; absent where there can be none. */
  rest?: 'query';
  /** [UTCP-1] Sent as they are with every request, names in small letters. */
  headers?: Record<string, string>;
  body: HttpRequestBody | null;
  /** [OAS-4] The alternatives, each a list of schemes that are wanted together, an empty one where nothing is needed. Empty where nothing is wanted. */
  security: SecurityRequirement[][];
  /** Whether the credential of the source goes with it: where it is wanted, and everywhere where the document says nothing of security. */
  sends_credential: boolean;
  /** The value of the `Accept` header: the documented types of the answers. */
  accept: string;
  /** Where a redirect is all that the document describes as an answer: what others fail with is the result then. */
  answers_with_redirect?: true;
  /** Where the next page of a list is asked for; null where nothing is documented. */
  pagination: CursorPagination | null;
  /** [POLL-1] Null where the answer is the result. */
  poll: PollProfile | null;
}

export type ParameterStyle =
  | 'matrix'
  | 'label'
  | 'simple'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  /** Of Swagger 2.0. */
  | 'tabDelimited'
  /** Of OpenAPI 3.2: a cookie that is not percent-encoded. */
  | 'cookie';

export interface HttpParameter {
  /** Its name among the tool's arguments, which is another one where two parameters would have the same. */
  argument: string;
  /** Its name in the request. */
  name: string;
  /** `querystring` of OpenAPI 3.2 is the whole query. */
  in: 'path' | 'query' | 'querystring' | 'header' | 'cookie';
  required: boolean;
  style: ParameterStyle;
  explode: boolean;
  allow_reserved: boolean;
  /** The media type it is written in where the document gives one in place of a style; null otherwise. */
  content_type: string | null;
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** How a body is written in one media type. */
export interface BodyForm {
  content_type: string;
  /**
   * How the argument becomes bytes: JSON; `application/x-www-form-urlencoded`; `multipart/*`; text as it is; bytes that the argument gives in
   * base64.
   */
  kind: 'json' | 'form' | 'multipart' | 'text' | 'binary';
  /** Of a form or multipart body, by property: how each is written. What is not named follows the defaults of the specification. */
  encoding: Record<string, PartEncoding>;
}

/** In the form that is preferred. */
export interface HttpRequestBody extends BodyForm {
  /** Its name among the tool's arguments: `body`. */
  argument: string;
  required: boolean;
  /** Where there are several that mean different things. */
  choice?: BodyChoice;
}

interface BodyChoice {
  /** The argument that names the media type. */
  argument: string;
  /** All of them, the preferred one first. */
  forms: ChosenForm[];
}

export interface ChosenForm extends BodyForm {
  /** The types of the values that it is meant for. */
  takes: JsonType[];
  /** Where others take objects as well: the names of the fields by which its own are told from theirs. */
  fields?: { required: string[]; known: string[] };
}

export interface PartEncoding {
  /** Null where it follows from the schema: text/plain, application/json or application/octet-stream. */
  content_type: string | null;
  /** Null where the part is written by its content type. */
  style: ParameterStyle | null;
  explode: boolean;
  allow_reserved: boolean;
  /** True where the argument gives bytes in base64: as text, or as `{data, filename?, content_type?}`. */
  binary: boolean;
  /** Headers of the part with a fixed value. */
  headers: Record<string, string>;
}

export interface SecurityRequirement {
  /** The name of the scheme in the document. */
  scheme: string;
  type: 'api_key' | 'basic' | 'bearer' | 'oauth2' | 'openid' | 'mutual_tls' | 'other';
  /** Of an API key. */
  in?: 'header' | 'query' | 'cookie';
  name?: string;
  scopes: string[];
}

/** A list whose answers name the next page. */
export interface CursorPagination {
  /** Where the cursor stands in an answer, as a JSON Pointer. */
  pointer: string;
  /** The argument that takes it. */
  argument: string;
}
