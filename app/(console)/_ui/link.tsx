import Base from "next/link";
import type { ComponentProps } from "react";

/** A link whose page is loaded by a click: a list would otherwise request many that no one opens. */
export const Link = (props: ComponentProps<typeof Base>) => <Base prefetch={false} {...props} />;
