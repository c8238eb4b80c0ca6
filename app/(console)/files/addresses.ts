type Query = Readonly<Record<string, string>>;

/** Returns the path of the API for files of an artist, or with `""` of the account. */
export const apiPath = (endpoint: string, artist: string, query: Query = {}): string =>
  `/api/workspace/${endpoint}?${new URLSearchParams({ ...(artist && { artist_id: artist }), ...query })}`;

/** Returns the page of a `folder`, or of the file at a `path`, maybe of one `version`. */
export const pagePath = (artist: string, query: Query = {}): string =>
  `/files?${new URLSearchParams({ artist, ...query })}`;
