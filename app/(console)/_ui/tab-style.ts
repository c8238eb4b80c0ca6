/**
 * A bar of tabs. It can be scrolled on a narrow screen, without a scrollbar: the tab at the edge is cut
 * off, which shows that there are more.
 */
export const tabBarStyle =
  "flex gap-1 overflow-x-auto overflow-y-hidden border-b [scrollbar-width:none]";

export const tabStyle =
  "-mb-px shrink-0 border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap text-muted-foreground hover:text-foreground focus-visible:-outline-offset-2";
