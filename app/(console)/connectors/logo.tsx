import type { ComponentType } from "react";

export type ConnectorIcon = ComponentType<{ readonly className?: string }>;

/**
 * Returns a component that draws a logo, as a decoration beside the name.
 *
 * @param svg a file of `_logos`, which is from Simple Icons (CC0): one path in a square of 24
 * @param color of the brand. Default: the text's, for brands whose own is black or too pale on one of the grounds
 */
export function logo(svg: string, color = "currentColor"): ConnectorIcon {
  const path = / d="([^"]+)"/.exec(svg)?.[1];
  return ({ className }) => (
    <svg aria-hidden className={className} viewBox="0 0 24 24" fill={color}>
      <path d={path} />
    </svg>
  );
}
