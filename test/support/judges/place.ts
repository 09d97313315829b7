import { z } from 'zod';

/** What a structured answer must look like. */
export const PLACE = z.object({ city: z.string(), people: z.number() });
