/** In pixels, as a query has them. */
export const THUMBNAIL_WIDTHS = ["160", "320", "640"] as const;
