/** Words that say nothing about what is wanted, in the languages of `translations.ts`. */
export const smallWords: ReadonlySet<string> = new Set(
  `a an the of to in on at for from with by as into onto about and or but if so that this these those it its is are was were be been am
i me my we us our you your he she they them their his her do does did can could would should will shall may might must want need like
please let have has had there here just also too very some any not no yes hello hi ok than then when how why
der die das den dem ein eine einen einem einer eines im auf zu mit von und le la les un une des du de au aux et el los las una unos del al y
il lo gli uno della di da e o os um uma het een van met для на в и を に の は が 的 了`.split(/\s+/),
);
