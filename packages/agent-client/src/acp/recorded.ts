/** Set for an agent whose turns are recorded by who started it: what its hooks tell would be a second record of them. */
export const RECORDED = 'TURNBACK_RECORDED'
