import { lazyComponent } from "../_load/lazy-component.tsx";

/** `Cover` for every page, whose code is loaded when an artist was chosen. Its place needs a size. */
export const LazyCover = lazyComponent(() => import("./cover.tsx"), "Cover");
