import type { AnyRoute } from './route.ts';
import * as routes from './routes/catalog.ts';

export const ROUTES: readonly AnyRoute[] = Object.values(routes);
