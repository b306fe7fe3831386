import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Tool } from '../../../src/model/tool.ts';
import { importWorkflows } from '../../../src/sources/workflow/import-workflows.ts';
import { isolated } from '../../fixtures/isolated.ts';
import { corpusPath } from '../../fixtures/openapi/corpus.ts';
import { importedTools } from '../../fixtures/openapi/imported-tools.ts';
import { askOver, runTool, startShop } from './shop.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, '../../fixtures/arazzo', file), 'utf8');
const importOver = (file: string, tools: readonly Tool[], correct = (text: string) => text) =>
  importWorkflows({
    text: correct(read(file)),
    url: null,
    sources: () => ({ namespace: 'shop', tools }),
    ...isolated,
  });
const names = (tools: { definition: { name: string } }[]) => tools.map(({ definition }) => definition.name);

test('[WF-1] the pet shop is imported without the workflow that has wrong parameters, and sells a pet', async () => {
  await using shop = await startShop(({ method }) => ({ body: method === 'GET' ? [{ id: 7 }] : { id: 10 } }));
  const { tools } = await importedTools(corpusPath('pet-coupons.openapi.yaml', ''), 'shop', { server_url: shop.origin });
  const { tools: found, report } = await importOver('pet-coupons.arazzo.yaml', tools);
  expect(names(found)).toEqual(['buy-available-pet', 'place-order']);
  expect(report.skipped).toEqual([
    { operation: 'apply-coupon', reason: 'step find-pet: GET /pet/findByTags has no parameter pet_tags in query; it has tags (query)' },
  ]);
  expect(found[0]?.definition.input_schema).toMatchObject({
    properties: { store_id: { $ref: '#/$defs/store_id' } },
    $defs: { store_id: { type: 'string' } },
  });

  const output = await runTool(found[0], {}, { callTool: askOver(tools) });
  expect(output.structured_content).toEqual({ buy_pet_order_id: 10 });
  expect(shop.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    'GET /pet/findByStatus?status=available&page=1&pageSize=10 ',
    'POST /store/order {"petId":7,"status":"placed","complete":false}',
  ]);
});

test('[WF-1] the sign-in of the pet store is imported, and reports what it does not get', async () => {
  const { tools } = await importedTools(corpusPath('swagger-petstore-3.0.4.yaml', ''), 'shop');
  const { tools: found, report } = await importOver('LoginAndRetrievePets.arazzo.yaml', tools);
  expect(names(found)).toEqual(['loginUserRetrievePet']);
  expect(report.warnings.map(({ message }) => message)).toEqual([
    'step getPetStep: the header Authorization is ignored: the source sends its own',
    '$response.header.X-Expires-After has no value: workflows cannot read that header',
    '$response.header.X-Rate-Limit has no value: workflows cannot read that header',
  ]);
});

test('[WF-1] the loan at the checkout is imported once its wrong parameter is corrected, and goes on to the terms', async () => {
  await using shop = await startShop(({ url }) => ({
    body: url.includes('products') ? { existingCustomerNotEligible: true, list: { products: [1] } } : {},
  }));
  const { tools } = await importedTools(corpusPath('bnpl-openapi.yaml', ''), 'shop', { server_url: shop.origin });
  expect((await importOver('bnpl-arazzo.yaml', tools)).report.skipped).toEqual([
    {
      operation: 'ApplyForLoanAtCheckout',
      reason: expect.stringContaining('GET /auth has no parameter redirectAuthToken in query; it has AuthorizationToken (query)'),
    },
  ]);
  const correct = (text: string) => text.replace('- name: redirectAuthToken', '- name: AuthorizationToken');
  const { tools: found, report } = await importOver('bnpl-arazzo.yaml', tools, correct);
  expect(report.skipped).toEqual([]);
  expect(names(found)).toEqual(['ApplyForLoanAtCheckout']);
  expect(report.warnings.map(({ message }) => message)).toContain(
    '$steps.initiateBnplTransaction.outputs.loanTransactionId has no value: step initiateBnplTransaction has no such output',
  );

  const customer = { uri: 'https://customers.test/1' };
  const products = [{ productCode: 'p', purchaseAmount: { currency: 'EUR', amount: 3 } }];
  const output = await runTool(found[0], { customer, products }, { callTool: askOver(tools) });
  expect(JSON.parse(shop.requests[0]?.body ?? '')).toEqual({ customer, products });
  expect(JSON.parse(shop.requests[2]?.body ?? '')).toEqual({ termsAndConditionsAccepted: true });
  const { steps } = (output.metadata ?? {})['workflow'] as { steps: { step: string; succeeded: boolean }[] };
  expect(steps.map(({ step, succeeded }) => `${step} ${succeeded}`)).toEqual([
    'checkLoanCanBeProvided true',
    'getCustomerTermsAndConditions true',
    'createCustomer true',
  ]);
});
