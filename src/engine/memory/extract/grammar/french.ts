import { form, type Grammar, oneOf } from './grammar.ts';

const LEAD =
  "^(?:(?:s'il te plaît|s'il vous plaît|stp|svp|ok|d'accord|alors|donc|et|mais|salut|bonjour|coucou|merci|super|parfait|maintenant|puis|ensuite|bon|bien|oui|non|au fait|aussi),? )*";
const MONTHS = '(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)';
const DAYS = '(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?';
const NUMBER = '(?:\\d+|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|quelques|plusieurs)';
const THINGS =
  '(?:projet|dépôt|code source|appli(?:cation)?|service|api|backend|frontend|serveur|base(?: de données)?|préprod(?:uction)?|production|prod|environnement|pipeline|ci|cluster|site|stack|schéma|branche|bibliothèque|tests?|domaine|entreprise|boîte|société|produit|déploiements?|mises? en production|budget|échéance|port|file|cache|bureau|mémoire|thèse|cours|équipe|fournisseur|imprimante|routeur|nas|sauvegardes?|sprint|linter|build|client|contrat)';
const NOT = "(?:n'|ne )?";
const ADVERBS =
  '(?: (?:actuellement|maintenant|toujours|aussi|surtout|beaucoup|vraiment|plutôt|bien|encore|déjà|récemment|souvent|désormais|principalement|pas|plus|jamais|tous|tout|très|énormément))*';

export const FRENCH: Grammar = {
  question: oneOf(
    '\\?\\s*["»)\\]]*$',
    `${LEAD}(?:est-ce|qu'est-ce|qui est-ce|que penses|comment|pourquoi|combien|quand est-ce|où (?:est|sont|se)|quels?|quelles?|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|puis-je|dois-je|sais-tu|connais-tu|as-tu|avez-vous|y a-t-il|faut-il|je me demande)(?![\\p{L}])`,
  ),
  supposed: oneOf(
    `${LEAD}(?:si|supposons|imagine|imaginons|admettons|peut-être|et si|disons que|en théorie)(?![\\p{L}-])`,
    "\\b(?:je|j'|on|nous) ?(?:pourrais|pourrait|pourrions|serais|aurais|utiliserais|devrais)(?![\\p{L}])",
    '\\b(?:pas sûre?|aucune idée|par exemple|hypothèse)(?![\\p{L}])',
  ),
  order: oneOf(
    `${LEAD}(?:ajoute|ajuste|analyse|aide|améliore|applique|arrête|calcule|change|cherche|choisis|compare|complète|compose|continue|convertis|copie|corrige|crée|débogue|décris|déploie|dessine|détaille|dis|donne|écris|efface|envoie|essaie|explique|extrais|fais|génère|implémente|insère|installe|lance|liste|lis|mets|modifie|montre|nettoie|optimise|ouvre|planifie|prépare|propose|raccourcis|raconte|récapitule|rédige|refais|reformule|regarde|remplace|renomme|répète|réponds|résous|résume|réserve|reviens|simplifie|suggère|supprime|teste|traduis|transforme|trouve|utilise|vérifie|(?:ajoutez|aidez|corrigez|créez|donnez|écrivez|expliquez|faites|générez|montrez|résumez|traduisez|vérifiez)|ne \\p{L}+ (?:pas|jamais|plus))(?:-(?:moi|le|la|les|nous))?(?![\\p{L}-])`,
    `${LEAD}(?:j'ai besoin|je voudrais|j'aimerais|je veux) (?:que|d'|de |un|une|des|le|la|ton|votre)(?! (?:apprendre|devenir))`,
  ),
  standing: oneOf(
    "(?<![\\p{L}])(?:toujours|jamais|désormais|dorénavant|systématiquement|à partir de maintenant|à l'avenir|chaque fois|par défaut|en règle générale|dans tou(?:tes|s) (?:tes|mes|nos|les|vos) (?:réponses|commits|fichiers|messages))(?![\\p{L}])",
    '^avant (?:chaque|tout)(?![\\p{L}])',
  ),
  habit: oneOf("(?<![\\p{L}])j(?:e|') ?[^,]{0,20}(?:toujours|jamais|chaque fois)"),
  explicit: oneOf(
    `${LEAD}(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|garde en tête|garde à l'esprit|gardez à l'esprit|note (?:que|bien)|notez que|n'oublie pas|n'oubliez pas|sache que|important ?:|à retenir)`,
  ),
  aside: oneOf(
    '^(?:pour info|pour information|pour contexte|contexte ?:|au fait|à propos|soit dit en passant)',
  ),
  passing: oneOf(
    '(?<![\\p{L}])(?:ce|cet|cette|ces) (?:fonction|méthode|classe|code|fichier|texte|paragraphe|phrase|mail|e-mail|lettre|réponse|ligne|erreur|message|version|exemple|script|requête|image|bug|problème|résultat|partie|idée|cas|question|poème|blague|histoire|liste|tableau|suggestion|solution|explication|résumé|titre|tâche|conversation)s?(?![\\p{L}])',
    '(?<![\\p{L}])(?:cette fois|juste cette fois|pour ceci|ci-dessus|ci-dessous)(?![\\p{L}])',
    '(?<![\\p{L}])(?:ta|votre|tes|vos) (?:réponse|code|version|suggestion|explication|exemple|aide)s?(?![\\p{L}])',
    '(?<![\\p{L}])(?:tu|vous) (?:as|avez|es|êtes|ne|dis|oublies|fais)(?![\\p{L}])',
    '^(?:ça|cela|il|elle|ils|elles) [^,]{0,20}(?:toujours|jamais)',
    "j'aime (?:bien )?(?:ça|cette|ce|cela|ta|votre|l'idée)(?![\\p{L}])",
  ),
  trouble: oneOf(
    '(?<![\\p{L}])(?:cassée?s?|échoue|plante|planté|lente?s?|ne marche pas|ne fonctionne pas|bloquée?|bizarre|erreurs?|exception|manquante?|bug|buggué|en panne)(?![\\p{L}])',
    '(?<![\\p{L}])je suis (?:\\p{L}+ )?(?:fatiguée?|occupée?|content|contente|triste|stressée?|perdue?|bloquée?|désolée?|prête?|là|sûre?|ravie?|curieux|curieuse)(?![\\p{L}])',
  ),
  dated: oneOf(
    `(?<![\\p{L}])(?:demain|hier|ce (?:matin|soir)|cet après-midi|aujourd'hui|après-demain|avant-hier|(?:la semaine|le mois|l'année|le trimestre|l'été|l'hiver) (?:prochaine?|dernier|dernière|passée?)|${DAYS}|(?:en|depuis|jusqu'en|avant|après|fin|début|mi-) ?${MONTHS}|\\d{1,2}(?:er)? ${MONTHS}|le \\d{1,2}(?:er)?|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}[/.]\\d{1,2}[/.]\\d{2,4}|(?:en|depuis|avant|après) (?:19|20)\\d{2}|à \\d{1,2} ?(?:h|heures?|:\\d{2})|il y a ${NUMBER} (?:jours?|semaines?|mois|ans|années)|dans ${NUMBER} (?:jours?|semaines?|mois|ans))(?![\\p{L}])`,
  ),
  own: oneOf(
    "(?<![\\p{L}])(?:je|j'|nous|on|mon|ma|mes|notre|nos|moi|m'a)(?![\\p{L}])",
    "^(?:le|la|l') ?(?:lancement|réunion|échéance|démo|examen|vol|rendez-vous|migration|conférence|voyage|mariage|entretien|déménagement|contrat|loyer|projet|livraison|atelier|concert)(?![\\p{L}])",
  ),
  forms: [
    form(
      'preference',
      0.8,
      0.85,
      `(?<![\\p{L}])(?:je|j') ?${NOT}(?:préfère|aime|adore|déteste|apprécie|évite|raffole|privilégie)(?![\\p{L}])(?! (?:ça|cela|que tu|ta|votre)(?![\\p{L}]))`,
      `(?<![\\p{L}])(?:je|j') ?${NOT}(?:mange|bois|fume|supporte|porte|regarde|utilise|conduis|travaille)${ADVERBS.replace('*', '{0,2}')} (?:pas|plus|jamais|aucune?|ni)(?![\\p{L}])`,
      "(?<![\\p{L}])(?:j'ai horreur|je suis (?:très |plutôt |un |une )*(?:fan|amateur|adepte|habituée?)|j'ai l'habitude|je ne supporte)(?![\\p{L}])",
      '(?<![\\p{L}])m(?:on|a|es) (?:[\\p{L}-]+ ){0,2}(?:préférée?s?|favorite?s?|habituelle?s?)(?![\\p{L}])',
    ),
    form(
      'procedural_observation',
      0.8,
      0.75,
      `${LEAD}(?:évite|évitez|préfère|privilégie|privilégiez) \\p{L}`,
    ),
    form(
      'project_state',
      0.78,
      0.8,
      `(?<![\\p{L}])(?:nous|on|(?:notre|le|la|l'|ce|cette) ?(?:[\\p{L}\\d-]+ ){0,2}${THINGS}) ?${NOT}(?:avons|a|sommes|est|ont)?${ADVERBS} (?:utilisons|utilisée?|utilise|déployons|déploie|déployée?|passée?s? (?:à|de|sur)|migrons|migrée?s?|migre|choisi|décidé|adopté|basculé|tourne|tournons|héberge|hébergée?|stocke|repose sur|dépend de|cible|livrons|livre|remplacé|abandonné|écrite? en|écoute|exige|testons)(?![\\p{L}])`,
      '(?<![\\p{L}])la décision (?:est|a été)(?![\\p{L}])',
    ),
    form(
      'semantic',
      0.75,
      0.85,
      "(?<![\\p{L}])(?:je m'appelle|appelle-moi|appelez-moi|mon (?:nom|prénom) (?:est|c'est)|mon anniversaire|je suis née?|j'ai (?:récemment )?déménagé|je viens de déménager)(?![\\p{L}])",
    ),
  ],
  weakForms: [
    form(
      'episodic',
      0.6,
      0.7,
      "(?<![\\p{L}])(?:je viens|nous venons|on vient) (?:juste )?(?:de |d')(?:commencer|quitter|acheter|vendre|adopter|finir|terminer|réussir|rater|perdre|gagner|signer|réserver|embaucher|publier|lancer|rejoindre|obtenir)",
      "(?<![\\p{L}])(?:je|j'|nous|on) ?(?:prévois|prévoyons|prévoit|compte|comptons|envisage|envisageons|économise)(?![\\p{L}])",
      '(?<![\\p{L}])(?:je veux|je souhaite|nous voulons|on veut) (?:apprendre|devenir|déménager|visiter|acheter|lancer|ouvrir|courir|perdre)(?![\\p{L}])',
      '(?<![\\p{L}])(?:mon|notre) (?:objectif|but|plan|projet)(?: [\\p{L} ]{1,40})? est(?![\\p{L}])',
    ),
    form(
      'procedural_observation',
      0.78,
      0.75,
      '^(?:quand|lorsque|pour) [^,]{3,60},',
      '^pour (?:déployer|publier|compiler|tester|lancer|démarrer|installer|migrer|restaurer|mettre)(?![\\p{L}])',
      '(?<![\\p{L}])(?:la|notre|le) (?:procédure|convention|règle|processus|méthode|habitude)(?: [\\p{L} ]{1,40})? (?:est|consiste)(?![\\p{L}])',
      "(?<![\\p{L}])(?:doit|doivent|il faut) (?:toujours |d'abord )?\\p{L}+er(?![\\p{L}])",
    ),
    form(
      'project_state',
      0.7,
      0.68,
      `(?<![\\p{L}])(?:le|la|l'|les|notre|nos|ce|cette) ?(?:[\\p{L}\\d.-]+ ){0,2}${THINGS}(?: [^?]{0,80})? (?:est|sont|utilise|utilisent|tourne|tournent|se trouve|se trouvent|a|ont|nécessite|écoute|coûte|commence|finit|ferme|ouvre|appartient|s'appelle)(?![\\p{L}])`,
    ),
    form(
      'semantic',
      0.7,
      0.75,
      "(?<![\\p{L}])m(?:on|a|es) (?!(?:question|problème|erreur|code|avis|idée|souci|test|script|fonction)(?![\\p{L}]))[\\p{L}'’ -]{1,40}? (?:est|sont|était|s'appelle|s'appellent|a|ont|habite|travaille|vit|étudie|commence|aime|parle)(?![\\p{L}])",
      "(?<![\\p{L}])notre (?:[\\p{L}-]+ ){1,3}(?:est|sont|s'appelle|habite|travaille)(?![\\p{L}])",
      "(?<![\\p{L}])je (?:ne )?suis (?:pas )?(?:une? \\p{L}|allergique|végétarien|végétarienne|végane?|vegan|intolérante?|diabétique|mariée?|divorcée?|célibataire|enceinte|gauchère?|daltonien|retraitée?|indépendante?|freelance|\\p{L}+(?:eur|euse|ière?|iste|ien|ienne|ecte)(?![\\p{L}])|en (?:train d'apprendre|congé)|de \\p{L}|à la retraite|basée?)",
      "(?<![\\p{L}])(?:j'habite|je vis|je travaille|j'étudie|j'enseigne|je conduis|je parle|je joue|je loue|je pèse|je gagne|je dirige|je prends|j'utilise|je fais (?:du|de la|des)|j'ai grandi|je code|je développe|je mange|je bois|je cours|je nage|je dors|je me lève|j'apprends)(?![\\p{L}])(?! (?:ça|cela|ceci)(?![\\p{L}]))",
      "(?<![\\p{L}])(?:j'ai|nous avons|je n'ai pas) (?:(?:\\d+|une?|deux|trois|quatre|d'|de) ?(?:[\\p{L}-]+ ){0,2}(?:ans|enfants?|fils|filles?|chiens?|chats?|frères?|sœurs?|voitures?|allergies?|maison|appartement|mari|femme|jumeaux|jardin|vélo|permis|animaux)|de l'asthme|du diabète)(?![\\p{L}])",
    ),
  ],
  material: oneOf(
    `${LEAD}(?:(?:peux-tu|pouvez-vous|pourrais-tu) )?(?:traduis|traduire|corrige|corriger|reformule|reformuler|résume|résumer|améliore|améliorer|relis|relire|réponds à|répondre à|analyse|analyser|explique|expliquer|vérifie)(?![\\p{L}])`,
  ),
  play: oneOf(
    'jeu de rôle',
    '(?<![\\p{L}])fais comme si',
    '(?<![\\p{L}])tu es (?:maintenant|désormais) une?',
    '(?<![\\p{L}])joue le rôle',
    '(?<![\\p{L}])on joue à',
  ),
  tale: oneOf(
    '(?<![\\p{L}])(?:écris|raconte|invente|compose)(?:-moi)? (?:une?|l[ea]) (?:[\\p{L}-]+ ){0,2}(?:histoire|poème|chanson|scène|dialogue|conte|blague|nouvelle|haïku)(?![\\p{L}])',
  ),
  playEnds: oneOf(
    '(?<![\\p{L}])(?:arrête|fin|stop|quitte)[^.]{0,20}(?:jeu|rôle|personnage)',
    'retour à la réalité',
  ),
  told: oneOf(
    `(?<![\\p{L}])(?:le|la|ce|cette|votre|ton|ta) (?:[\\p{L}\\d-]+ ){0,2}${THINGS} (?:utilise|tourne sur|est écrite? en|est hébergée?|dépend de|repose sur|nécessite)(?![\\p{L}])`,
  ),
  toldOfUser: oneOf(
    '(?<![\\p{L}])(?:tu|vous) (?:préfères|préférez|aimes|aimez|habites|habitez|travailles|travaillez|utilises|utilisez)(?![\\p{L}])',
  ),
  confirms:
    /^(?:oui|exact(?:ement)?|c'est (?:ça|exact|vrai|bien ça)|tout à fait|voilà|correct|absolument)(?![\p{L}])[^?]{0,40}$/iu,
};
