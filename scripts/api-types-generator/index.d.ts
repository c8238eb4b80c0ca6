/** TypeScript source with the `paths` of an OpenAPI 3.1 document, as `openapi-fetch` takes them. */
export function generateTypes(document: object): Promise<string>;
