import type { HttpParameter, ParameterStyle } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { own, textAt } from '../../documents/node.ts';

type Place = HttpParameter['in'];

const styles: Record<Place, ParameterStyle[]> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  querystring: ['form'],
  header: ['simple'],
  cookie: ['form', 'cookie'],
};

const collectionStyles: Record<string, ParameterStyle | undefined> = {
  ssv: 'spaceDelimited',
  tsv: 'tabDelimited',
  pipes: 'pipeDelimited',
};

export type Style = Pick<HttpParameter, 'style' | 'explode'>;

/** [OAS-2] The documented style of a parameter, or the default. Undefined if the documented style is not allowed in its place. */
export function styleOf(place: Place, parameter: JsonObject): Style | undefined {
  const given = own(parameter, 'style');
  const style = given === undefined ? styles[place][0] : styles[place].find((known) => known === given);
  if (style === undefined) return undefined;
  const explode = own(parameter, 'explode');
  return { style, explode: typeof explode === 'boolean' ? explode : explodesByDefault(style) };
}

export function explodesByDefault(style: ParameterStyle): boolean {
  return style === 'form' || style === 'cookie';
}

/** The style of a Swagger 2.0 parameter: lists are comma-separated unless `collectionFormat` says otherwise. */
export function collectionStyle(place: Place | 'formData', parameter: JsonObject): Style {
  const format = textAt(own(parameter, 'collectionFormat')) ?? 'csv';
  const usual: ParameterStyle = place === 'path' || place === 'header' ? 'simple' : 'form';
  return { style: collectionStyles[format] ?? usual, explode: format === 'multi' && usual === 'form' };
}
