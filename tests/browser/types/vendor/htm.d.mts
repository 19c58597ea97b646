declare const htm: { bind(create: Function): (strings: TemplateStringsArray, ...values: any[]) => any };
export default htm;
