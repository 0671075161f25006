export const TEMPLATE = 'migrated'
