import { form, type Grammar, oneOf } from './grammar.ts';

const START = '(?<![\\p{L}])';
const END = '(?![\\p{L}])';
const LEAD =
  '^¡?(?:(?:por favor|vale|ok|bueno|entonces|y|pero|hola|gracias|genial|perfecto|ahora|luego|sí|no|oye|también|además|pues),? )*';
const MONTHS = '(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)';
const DAYS = '(?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)';
const NUMBER = '(?:\\d+|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|unos|unas|varios|varias)';
const THINGS =
  '(?:proyecto|repositorio|repo|código fuente|aplicación|app|servicio|api|backend|frontend|servidor|base(?: de datos)?|preproducción|staging|producción|entorno|pipeline|ci|clúster|cluster|sitio|web|stack|esquema|rama|biblioteca|librería|pruebas|tests?|dominio|empresa|producto|despliegues?|lanzamientos?|presupuesto|plazo|puerto|cola|caché|oficina|tesis|curso|equipo|proveedor|impresora|router|nas|copias?(?: de seguridad)?|sprint|linter|build|cliente|contrato)';
const ADVERBS =
  '(?: (?:actualmente|ahora|siempre|también|sobre todo|mucho|realmente|todavía|aún|ya|recientemente|a menudo|principalmente|no|nunca|todos|muy|más|bastante))*';

export const SPANISH: Grammar = {
  question: oneOf(
    '\\?\\s*["»)\\]]*$',
    '¿',
    `${LEAD}(?:qué|quién|cuál|cuáles|cómo|dónde|cuándo|cuánto|cuántos|cuántas|por qué|puedes|podrías|puede|podría|sabes|me pregunto)${END}`,
  ),
  supposed: oneOf(
    `${LEAD}(?:si|supongamos|supón|imagina|imaginemos|digamos|quizás?|tal vez|a lo mejor|en teoría|y si)${END}`,
    `${START}(?:podría|podríamos|sería|usaría|usaríamos|tendría)${END}`,
    `${START}(?:no estoy segur[oa]|ni idea|por ejemplo|hipotétic[oa]s?)${END}`,
  ),
  order: oneOf(
    `${LEAD}(?:añade|agrega|ajusta|analiza|ayuda|ayúdame|aplica|arregla|borra|busca|calcula|cambia|compara|completa|compón|continúa|convierte|copia|corrige|crea|cuenta|cuéntame|depura|describe|despliega|dibuja|di|dime|da|dame|edita|elimina|elige|envía|escribe|escríbeme|explica|explícame|extrae|genera|haz|hazme|hazlo|implementa|inserta|instala|lee|lista|llama|mejora|muestra|muéstrame|mueve|optimiza|ordena|planifica|pon|prepara|propón|prueba|quita|recomienda|recomiéndame|redacta|reescribe|reemplaza|refactoriza|renombra|repite|reserva|responde|resuelve|resume|revisa|simplifica|sugiere|sugiéreme|traduce|traduceme|tradúceme|transforma|usa|utiliza|verifica|no \\p{L}+(?:es|as))${END}(?!:)`,
    `${LEAD}(?:necesito|quiero|quisiera|me gustaría) (?:que|un|una|el|la|los|las|tu|ayuda)${END}`,
  ),
  standing: oneOf(
    `${START}(?:siempre|nunca|jamás|de ahora en adelante|a partir de ahora|en adelante|en el futuro|cada vez|por defecto|por norma|en todas (?:tus|mis|las|nuestras) (?:respuestas)|en todos (?:tus|mis|los|nuestros) (?:commits|archivos|mensajes))${END}`,
    `^antes de (?:cada|cualquier)${END}`,
  ),
  habit: oneOf(
    `^(?:yo )?(?:siempre|nunca) \\p{L}+o${END}`,
    `${START}yo (?:siempre|nunca)${END}`,
    `${START}\\p{L}+o (?:siempre|nunca)${END}`,
  ),
  explicit: oneOf(
    `${LEAD}(?:recuerda|recuerde|ten en cuenta|tenga en cuenta|ten presente|anota|apunta|toma nota|no olvides|no te olvides|que sepas|importante ?:|nota ?:)`,
  ),
  aside: oneOf('^(?:para tu información|para contexto|contexto ?:|por cierto|a propósito|como dato)'),
  passing: oneOf(
    `${START}(?:este|esta|estos|estas|ese|esa|esos|esas) (?:función|método|clase|código|archivo|texto|párrafo|frase|correo|carta|respuesta|línea|error|mensaje|versión|ejemplo|script|consulta|imagen|problema|resultado|parte|idea|caso|pregunta|poema|chiste|historia|lista|tabla|sugerencia|solución|explicación|resumen|título|tarea|conversación)${END}`,
    `${START}(?:esta vez|solo esta vez|lo anterior|lo de arriba|lo siguiente)${END}`,
    `${START}(?:tu|tus|su) (?:respuesta|código|versión|sugerencia|explicación|ejemplo|ayuda)s?${END}`,
    `${START}(?:dijiste|escribiste|mencionaste|olvidaste|sugeriste|eres)${END}`,
    `^(?:esto|eso|él|ella|ellos) [^,]{0,20}(?:siempre|nunca)`,
    `^(?:siempre|nunca) (?:falla|funciona|se cae|se cuelga|da error|pasa|me da)`,
    `me gusta (?:esto|eso|esta|este|tu|la idea|cómo)${END}`,
  ),
  trouble: oneOf(
    `${START}(?:rot[oa]s?|falla|fallan|se cae|se cuelga|lent[oa]s?|no funciona|no funcionan|atascad[oa]|rar[oa]|errores|error|excepción|falta|bug)${END}`,
    `${START}estoy (?:\\p{L}+ )?(?:cansad[oa]|ocupad[oa]|content[oa]|feliz|triste|estresad[oa]|perdid[oa]|atascad[oa]|list[oa]|aquí|segur[oa])${END}`,
  ),
  dated: oneOf(
    `${START}(?:mañana|ayer|anteayer|pasado mañana|hoy|esta (?:mañana|tarde|noche)|anoche|(?:la semana|el mes|el año|el trimestre|el verano|el invierno) (?:próxim[oa]|pasad[oa]|que viene)|(?:la próxima|el próximo) (?:semana|mes|año|${DAYS})|${DAYS}|(?:en|desde|hasta|antes de|a finales de|a principios de) ${MONTHS}|\\d{1,2} de ${MONTHS}|el \\d{1,2}|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}[/.]\\d{1,2}[/.]\\d{2,4}|(?:en|desde|antes de) (?:19|20)\\d{2}|a las? \\d{1,2}(?::\\d{2})?|hace ${NUMBER} (?:días?|semanas?|mes(?:es)?|años?)|(?:en|dentro de) ${NUMBER} (?:días?|semanas?|mes(?:es)?|años?))${END}`,
  ),
  own: oneOf(
    `${START}(?:yo|me|mi|mis|nos|nosotr[oa]s|nuestr[oa]s?|tengo|tenemos|voy|vamos|fui|fuimos|he|hemos|estoy|estamos|viajo|viajamos|empecé|empiezo|compré|terminé|conocí|visité|salgo|llego|\\p{L}+(?:amos|emos|imos))${END}`,
    `^(?:el|la) (?:lanzamiento|reunión|plazo|demo|examen|vuelo|cita|migración|conferencia|viaje|boda|entrevista|mudanza|contrato|alquiler|proyecto|entrega|taller|concierto)${END}`,
  ),
  forms: [
    form(
      'preference',
      0.8,
      0.85,
      `${START}(?:prefiero|detesto|odio|adoro|evito|suelo|disfruto)${END}(?! (?:esto|eso|que tú)${END})`,
      `${START}(?:no )?me (?:gustan?|encantan?|fascinan?|molestan?)${END}(?!ría)`,
      `${START}no (?:como|bebo|tomo|fumo|soporto|uso|veo|conduzco|trabajo|aguanto)${END}`,
      `${START}(?:mis?|nuestros?) (?:[\\p{L}-]+ ){0,2}(?:favorit[oa]s?|preferid[oa]s?|preferencia|habitual(?:es)?)${END}`,
      `${START}soy (?:muy |más |un |una |gran )*(?:fan|aficionad[oa]|amante|de (?:café|té|perros|gatos))${END}`,
      `${START}estoy acostumbrad[oa]${END}`,
    ),
    form('procedural_observation', 0.8, 0.75, `${LEAD}(?:evita|evite|evitar|prefiere) \\p{L}`),
    form(
      'project_state',
      0.78,
      0.8,
      `${START}(?:usamos|utilizamos|estamos (?:usando|utilizando|migrando|desplegando|en)|(?:nos )?(?:hemos )?(?:migramos|migrado|pasamos a|pasado a|cambiamos|cambiado|movimos|movido|actualizamos|actualizado|decidimos|decidido|elegimos|elegido|adoptamos|adoptado|acordamos|reemplazamos|reemplazado|dejamos de)|desplegamos|alojamos|guardamos|probamos con)${END}`,
      `${START}(?:nuestr[oa]|el|la|este|esta) (?:[\\p{L}\\d-]+ ){0,2}${THINGS}(?: se)?(?: ha| está)?${ADVERBS} (?:usa|utiliza|corre|se ejecuta|ejecuta|despliega|depende de|se basa en|basad[oa] en|escrit[oa] en|requiere|escucha|guarda|migró|pasó a|alojad[oa])${END}`,
      `${START}la decisión (?:es|fue)${END}`,
    ),
    form(
      'semantic',
      0.75,
      0.85,
      `${START}(?:me llamo|llámame|mi nombre (?:es|completo)|mi cumpleaños|nací|me (?:mudé|he mudado|acabo de mudar))${END}`,
    ),
  ],
  weakForms: [
    form(
      'episodic',
      0.6,
      0.7,
      `${START}(?:acabo|acabamos) de (?:empezar|dejar|comprar|vender|adoptar|terminar|aprobar|perder|ganar|firmar|reservar|contratar|publicar|lanzar|conseguir)`,
      `${START}(?:planeo|planeamos|pienso|pensamos|tengo pensado|tenemos pensado|estoy ahorrando|estoy entrenando)${END}`,
      `${START}(?:quiero|queremos|espero) (?:aprender|ser|mudarme|visitar|comprar|lanzar|abrir|correr|perder)${END}`,
      `${START}(?:mi|nuestro) (?:objetivo|meta|plan)(?: [\\p{L} ]{1,40})? es${END}`,
    ),
    form(
      'procedural_observation',
      0.78,
      0.75,
      '^(?:cuando|para) [^,]{3,60},',
      `^para (?:desplegar|publicar|compilar|probar|ejecutar|arrancar|instalar|migrar|restaurar)${END}`,
      `${START}(?:el|la|nuestr[oa]) (?:procedimiento|convención|regla|proceso|método|norma)(?: [\\p{L} ]{1,40})? (?:es|consiste)${END}`,
      `${START}(?:debe|deben|hay que|tienen que) (?:siempre |primero )?\\p{L}+[aei]r(?:se)?${END}`,
    ),
    form(
      'project_state',
      0.7,
      0.68,
      `${START}(?:el|la|los|las|nuestr[oa]s?|este|esta) (?:[\\p{L}\\d.-]+ ){0,2}${THINGS}(?: [^?]{0,80})? (?:es|son|está|están|usa|usan|corre|corren|tiene|tienen|necesita|escucha|cuesta|empieza|termina|cierra|abre|pertenece|se llama|vive)${END}`,
    ),
    form(
      'semantic',
      0.7,
      0.75,
      `${START}mis? (?!(?:pregunta|problema|error|código|opinión|idea|duda|prueba|script|función)${END})[\\p{L}'’ -]{1,40}? (?:es|son|era|está|están|se llama|se llaman|tiene|tienen|vive|viven|trabaja|trabajan|estudia|empieza|habla|nació)${END}`,
      `${START}nuestr[oa]s? (?:[\\p{L}-]+ ){1,3}(?:es|son|se llama|está|vive|trabaja)${END}`,
      `${START}(?:no )?soy (?:una? \\p{L}|alérgic[oa]|vegetarian[oa]|vegan[oa]|intolerante|diabétic[oa]|zurd[oa]|daltónic[oa]|celíac[oa]|jubilad[oa]|autónom[oa]|freelance|de \\p{L}|\\p{L}+(?:er[oa]|ist[oa]|or|ora|ent[ea]|ante|ic[oa]|óg[oa]|an[oa])${END})`,
      `${START}estoy (?:casad[oa]|divorciad[oa]|solter[oa]|embarazada|jubilad[oa]|aprendiendo|estudiando|escribiendo (?:un|una|mi)|trabajando (?:en|como|de)|tomando \\p{L})${END}`,
      `${START}(?:vivo|trabajo|estudio|enseño|conduzco|hablo|toco|juego|alquilo|peso|gano|dirijo|tomo|uso|utilizo|crecí|programo|desarrollo|corro|nado|duermo|me levanto|me acuesto|cocino|aprendo)${END}(?! (?:esto|eso)${END})`,
      `${START}(?:no )?(?:tengo|tenemos) (?:(?:(?:\\d+|una?|dos|tres|cuatro) )?(?:[\\p{L}-]+ ){0,2}(?:años|hij[oa]s?|perr[oa]s?|gat[oa]s?|herman[oa]s?|coches?|alergias?|casa|piso|marido|esposa|mellizos|gemelos|jardín|bici|carné|mascotas?)|asma|diabetes)${END}`,
    ),
  ],
  material: oneOf(
    `${LEAD}(?:(?:puedes|podrías|puede) )?(?:traduce|traducir|tradúceme|corrige|corregir|reescribe|reescribir|resume|resumir|mejora|mejorar|revisa|revisar|responde a|responder a|analiza|analizar|explica|explicar|explícame)${END}`,
  ),
  play: oneOf(
    'juego de rol',
    `${START}(?:finge|haz como si|haz de)${END}`,
    `${START}ahora eres una?${END}`,
    `${START}actúa como${END}`,
    `${START}juguemos a${END}`,
  ),
  tale: oneOf(
    `${START}(?:escribe|escríbeme|cuenta|cuéntame|inventa|compón) (?:una?|el|la) (?:[\\p{L}-]+ ){0,2}(?:historia|poema|canción|escena|diálogo|cuento|chiste|haiku|novela)${END}`,
  ),
  playEnds: oneOf(
    `${START}(?:para|fin|termina|deja)[^.]{0,20}(?:juego|rol|personaje)`,
    'volvamos a la realidad',
  ),
  told: oneOf(
    `${START}(?:el|la|este|esta|tu|su) (?:[\\p{L}\\d-]+ ){0,2}${THINGS} (?:usa|utiliza|corre en|está escrit[oa] en|está alojad[oa]|depende de|se basa en|requiere)${END}`,
  ),
  toldOfUser: oneOf(
    `${START}(?:prefieres|te gustan?|vives|trabajas|usas|eres (?:alérgic[oa]|vegetarian[oa]|vegan[oa]))${END}`,
  ),
  confirms:
    /^(?:sí|si|exacto|exactamente|correcto|así es|eso es|claro|cierto|efectivamente)(?![\p{L}])[^?¿]{0,40}$/iu,
};
