/** Elements and hooks, so that the rest of the console need not know where they come from. */

import htm from '../vendor/htm.mjs';
import { Fragment, h, render } from '../vendor/preact.mjs';

export { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from '../vendor/preact-hooks.mjs';
export { Fragment, render };

/** A template of elements. */
export const html = htm.bind(h);
