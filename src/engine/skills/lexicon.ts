/**
 * Words of work in English, French, Spanish, Chinese and Japanese that mean about the same, one idea a line, so that
 * a skill written in one language is found by a request in another. General vocabulary only: what belongs to one
 * skill stands in that skill's triggers. Latin words are written folded (lower case, no accents); `*` stands for any
 * ending, `_` for a space; Katakana stands as whole words. An idea's first word is its name.
 */
export const LEXICON = `
email e-mail* mail mails courriel* correo* emails 邮件 电邮 メール
letter* lettre* carta cartas 写信 封信 信件 手紙 文面
message* messages mensaje* 消息 短信 メッセージ
reply repl* answer_to repond* reponse* respuest* contestar* 回复 答复 返信 返事
slides slide slides diapo* diaporama* diapositiv* powerpoint ppt keynote 幻灯片 演示 スライド
presentation presentation* presentacion* pitch 演讲 汇报 发言 プレゼン 発表 登壇
speech speech* talk talks discours* discurso* 致辞 スピーチ 挨拶
meeting meeting* reunion* rendez-vous 会议 开会 会議 打ち合わせ ミーティング
minutes minutes compte_rendu proces-verbal acta actas 纪要 议事录 議事録
agenda agenda* ordre_du_jour orden_del_dia 议程 アジェンダ 議題
transcript transcript* transcri* recording* enregistrement* grabacion* 录音 转写 録音 文字起こし
summary summar* resum* synthes* sintesi* condens* boil_down tldr tl;dr recap* takeaway* gist essentiel esencial 总结 概括 摘要 压缩 提炼 要約 まとめて 要点
report report reports rapport* informe* 报告 汇报材料 レポート 報告書
progress progress* status avance avances avancement* 进度 进展 周报 日报 月报 進捗 週報 月報 近況
week weekly hebdomadaire* semanal* 每周 本周 毎週 今週
document document docs documentation* documentacion* manual manuals manuel* readme* guide guides guia* handbook* runbook* wiki 文档 手册 说明书 说明 ドキュメント マニュアル 手順書 説明書
install install* instal* setup 安装 インストール 導入
explain explain* expliqu* explic* vulgaris* describ* decri* 解释 讲解 讲清楚 说明白 説明 解説
beginner beginner* newbie* novice* debutant* principiant* layman non-technical layperson 小白 新手 零基础 外行 初心者 素人 knows_nothing no_sabe_nada ne_connait_rien n'y_connait_rien 不懂技术 外行人 門外漢 詳しくない
child child* kid kids enfant* nino* nina* 孩子 小孩 儿童 子供 子ども grandfather* grandmother* grandma grandpa grand-mere grand-pere abuel* 爷爷 奶奶 老人家 おじいちゃん おばあちゃん 祖母 祖父
learn learn* studying apprendre* apprend* aprend* estudi* reviser 学习 复习 备考 勉強 学習 復習 練習
exam exam* quiz* midterm* finals controle controles concours examen* 考试 测验 期末 期中 試験 受験 oposicion* partiel partiels 模试 模試
homework homework devoirs deberes tarea_escolar 作业 宿題
test unittest* spec specs tests test pytest vitest jest junit prueba* essais 测试 用例 单测 テスト
coverage coverage couvertur* cobertura* 覆盖率 カバレッジ
flaky flak* intermittent* intermitent* aleatoire* aleatori* sporadic* sometimes parfois a_veces randomly nondetermin* unstable instable* inestable* 偶尔 有时 时好时坏 不稳定 偶发 たまに 時々 不安定
ci ci pipeline* jenkins github_actions integration_continue integracion_continua 流水线 持续集成
bug bug bugs bogue* defect* fehler 漏洞缺陷 バグ 不具合
error error* erreur* errores exception* excepcion* traceback* stacktrace* stack_trace fallo fallos 报错 错误 异常 エラー 例外
crash crash* plante planter plantage* segfault* cierra_sola se_cierra freez* hang hangs 崩溃 闪退 卡死 死机 クラッシュ 落ちる 落ちます 固まる app_closes se_cierra_al ferme_toute_seule 白屏 落ちてしまう
broken broken breaks casse cassee casses roto rota not_work* doesn't_work doesnt_work no_funciona marche_pas fonctionne_pas 不工作 不好使 坏了 没反应 动不了 動かない 壊れ
again again_and_again keeps_* toujours_* sigue siguen still_* same_error meme_erreur mismo_error 还是 一直 老是 总是 まだ また同じ 何度も
fix fix fixes fixed repair* repar* corriger* corrig* correg* arregl* resolv* 修复 修好 解决 修理 直して 修正 解決 reparat* 修一下 修好 治して
debug debug* depur* deboguer* diagnos* troubleshoot* 调试 排查 デバッグ
slow slow* lent lente lents lenteur* lento lenta lentisim* sluggish latency latenc* takes_* tarda* seconds_to_load ralent* 慢 卡顿 延迟 遅い 遅く 遅延 重い 重くなる
fast fast faster fastest speed* rapid* accel* plus_vite mas_rapido optimi* 加速 提速 更快 优化 高速化 速く 最適化
performance performance* rendimiento* throughput benchmark* profiling profiler* profilage bottleneck* goulot* cuello_de_botella 性能 瓶颈 パフォーマンス ボトルネック 性能改善
memory memory memoire memoria ram heap oom 内存 メモリ
cpu cpu cpus processor* processeur* procesador* 处理器
leak leak* fuite* fuga fugas filtr* 泄漏 泄露 漏洩 リーク 漏ら 流出
concurrent concurren* parallel* simultan* at_the_same_time same_moment al_mismo_tiempo race race_condition multithread* thread* hilo hilos mutex* deadlock* interbloque* interblocage* processus procesos 并发 同时 多线程 线程 死锁 竞态 並行 並列 同時 スレッド デッドロック 排他 競合状態
twice twice duplicat* doubl* doublon* duplicad* dos_veces deux_fois 两次 重复 二重 重複 二回
lock lock locks locking verrou* bloqueo* 加锁 锁定 ロック
queue queue* kafka rabbitmq file_d'attente cola colas 队列 キュー
refactor refactor* restructur* clean_up tidy untangle cleanup decouper* split_up take_apart nettoy* limpiar* spaghetti messy mess legacy desordenad* 重构 整理代码 代码太乱 拆分 拆开 リファクタ* 整理して 分割 divid* decoup* 拆成 太长了 分けて
code code codes codebase codigo source_code 代码 源码 コード ソース
function function* fonction* funcion* method methods methode* metodo* class classes clase clases classe 函数 方法 関数 メソッド クラス
repository repo repos repositor* depot depots repositorio* 仓库 代码库 リポジトリ
where_in_code find_where where_in fichier_est in_which_file which_file ou_est ou_se_trouve donde_esta 在哪里 哪个文件 どこに どこで
architecture architectur* arquitectur* organised organized structure structur* estructur* 架构 结构 構成 構造 アーキテクチャ
inherited inherit* hered* herit* took_over take_over unfamiliar newcomer* onboard* just_joined 接手 老项目 刚加入 刚来 引き継いだ 既存
review review* relire* relis revisar* revis* look_over look_at have_a_look feedback vistazo coup_d'oeil 审查 审核 把关 レビュー 見てください チェックして
pullrequest pr prs pull_request* merge_request* mr diff diffs patch patches プルリク* 合并请求
commit commit* commits rebase* cherry-pick* squash* 提交 コミット
git git github gitlab branch branches branche* rama ramas merge merging merged push pushed fusion fusionner* 分支 合并 推送 ブランチ マージ プッシュ
conflict conflict* conflit* conflicto* 冲突 衝突 コンフリクト
undo undo* revert* annuler* deshacer* roll_back rollback* go_back retour_en_arriere volver_a* revenir* 撤销 回滚 退回 恢复 取り消 元に戻 ロールバック 切り戻し 戻せ
deploy deploy* deploi* despleg* despliegu* release releas* ship shipping rollout* go_live launch launches mise_en_production puesta_en_produccion mettre_en_production canary 上线 部署 发布 灰度 デプロイ リリース 公開
production production prod produccion live_server 生产环境 线上 本番
server server* serveur* servidor* host hosts 服务器 サーバ*
container container* conteneur* contenedor* docker* kubernetes k8s helm pod pods 容器 コンテナ
upgrade upgrad* updat* bump* mettre_a_jour mise_a_jour actualiz* montee_de_version 升级 更新 升到 アップデート バージョンアップ
version version* versiones 版本 バージョン
dependency dependenc* dependanc* dependencia* package packages paquet* paquete* library libraries librairie* libreria* bibliotheque* biblioteca* npm pip lockfile* node_modules 依赖 包管理 依存 ライブラリ パッケージ
compile compil* build builds 编译 构建 コンパイル ビルド
framework framework* react vue angular svelte django rails spring laravel 框架 フレームワーク
language typescript javascript python golang rust java kotlin
migrate migrat* migrar* migrer* migration* move_to porting 迁移 移植 移行
api api apis endpoint* rest graphql grpc openapi sdk webhook* route routes 接口 エンドポイント
design design* conception* concevoir* disen* 设计 設計 デザイン
interface interface* interfaz* ui ux gui screen screens ecran* pantalla* layout* maquet* css html button buttons bouton* boton* menu* front-end frontend responsive 界面 页面 布局 按钮 样式 前端 画面 レイアウト ボタン
mobile phone phones mobile movil moviles telephone smartphone* iphone android 手机 移动端 スマホ* 携帯
accessibility accessib* accesib* keyboard clavier teclado screen_reader wcag contrast* contraste* 无障碍 键盘 对比度 アクセシビリティ キーボード
form form forms formulaire* formulario* 表单 フォーム
database database* databas* base_de_donnees base_de_datos bdd db postgres* mysql sqlite mariadb oracle mongodb 数据库 データベース
sql sql query queries requete* consulta consultas join joins select_* group_by 查询 クエリ
table table tables tabla tablas tableau* 表格 テーブル
index index indexes indices indexing 索引 インデックス
row row rows ligne lignes fila filas column columns colonne* columna* records 行数 条记录 列数 レコード
spreadsheet spreadsheet* excel xlsx google_sheets sheets tableur* hoja_de_calculo vlookup xlookup pivot 电子表格 透视表 エクセル スプレッドシート
formula formula* formule* 公式 関数式 数式
total total totals sum sums somme suma sumas adds_up add_up 求和 合计 总数 合計
dataset dataset* csv dataframe* pandas export exports jeu_de_donnees donnees datos data extrait* 数据 数据集 データ
missing missing empty_cells blank* null nulls nan vide vides vacio* vacia* manquant* faltan* 缺失 空值 空白 欠損 空欄
outlier outlier* anomal* odd weird strange bizarre* extran* raro raros aberrant* atipic* 异常值 奇怪 外れ値 おかしい
analyze analy* analis* 分析 解析
chart chart* graph graphs graphe* graphique* grafic* plot plots plotting visuali* dashboard* diagram* 图表 画图 可视化 画出来 柱状图 折线图 グラフ 図表 可視化
experiment experiment* ab_test* a_b_test* variant* control_group experimento* 实验 実験 バリアント
significant significan* significat* p-value statistic* statisti* estadistic* coincidence by_chance hasard casualidad correlation* correlacion* causal* causation caused 显著 统计 因果 巧合 有意 統計 偶然 相関
conversion conversion* conver* click_rate taux_de_clic 转化率 点击率 クリック率
survey survey* questionnaire* questionario* cuestionario* sondage* encuesta* poll 问卷 调查问卷 アンケート
interview interview* entrevist* entretien* user_research 访谈 采访 インタビュー
customer customer* client clients cliente* clientes users user usager* usuari* utilisateur* visitor* visiteur* visitante* 客户 用户 顾客 顧客 お客様 ユーザー 取引先 会員 会员 カスタマー
question question* pregunt* ask_them 问题 问哪些 質問
research research* recherche investig* literature state_of_the_art etat_de_l'art estado_del_arte what_is_known 调研 研究 文献 综述 調査 調べて 論文
source source sources fuente* cite citation* citing cita citas citer* reference* referenc* quote quotes evidence where_did_you d'ou_vient de_donde 出处 来源 引用 出典 情報源 根拠
true truth true fake fakenews vrai verdad verdadero credib* reliab* fiable* trustworthy trust trusted hoax rumor* rumour* rumeur* is_it_true confiance confiar scientific* serieux debunk* fact-check* 可靠 靠谱 谣言 辟谣 可信 核实 信頼 本当 信じて デマ
study study studies etude etudes estudio estudios article articles articulo* headline post posts paper papers 论文 記事 投稿
compare compar* versus vs which_one which_of should_we_* better_between lequel laquelle lesquel* cual_es_mejor me_conviene hesit* choose* choos* choisir* elegir* pick_between 对比 比较 怎么选 选哪个 哪个好 还是用 该用哪 比較 どちら どっち 選ぶ
alternative alternativ* pros_and_cons trade-off* tradeoff* avantag* ventaj* 优缺点 方案 メリット 選択肢
recommend recommend* recommand* recomend* 推荐 おすすめ
delete delet* remov* wipe* purge* truncat* erase* drop_table get_rid empty_the clear_out supprim* effac* vider* borrar* borra elimin* vaciar* 删除 删掉 清空 清掉 清理 删库 削除 消して 消去
irreversible irreversib* cannot_be_undone overwrit* ecras* sobrescrib* permanent* definitiv* 不可逆 覆盖 上書き 取り返し
backup backup* sauvegard* respald* copia_de_seguridad copias_de_seguridad 备份 バックアップ
script script scripts bash shell powershell 脚本 スクリプト シェル
automate automat* automatis* automatiz* by_itself tout_seul se_ejecute_solo unattended 自动 自動
schedule cron* every_night every_day every_morning every_monday every_hour each_morning nightly daily chaque_nuit tous_les_jours tous_les_matins chaque_matin cada_dia cada_noche cada_manana cada_lunes scheduled planificad* programad* timer* 定时 每天 每晚 每小时 凌晨 毎日 毎朝 毎晩 定期
alert alert* alerte* notif* notify* avis* warn_me tell_me_when surveill* monitor* 报警 告警 通知 监控 提醒我 監視 アラート 通知して
fail fail* failure* echou* echec* fall* died dies 失败 挂了 挂掉 失敗
rename renam* renomm* renombr* 重命名 改名 リネーム
retry retr* reintent* reessay* nouvelle_tentative backoff 重试 再试 リトライ 再試行
timeout timeout* time_out timed_out delai_depasse tiempo_de_espera rate_limit* 429 502 503 504 超时 限流 タイムアウト
outage outage* downtime goes_down went_down is_down down_again unreachable inaccessible* indisponib* panne pannes caida caidas se_cayo tombe en_panne incident* incidente* 宕机 瘫痪 故障 事故 中断 障害 停止してしまう サービス停止 落ちている
postmortem postmortem* post_mortem* root_cause cause_racine causa_raiz retrospect* retex lessons_learned what_happened why_it_happened 复盘 根因 再发 再発防止 原因分析 原因究明 振り返り
scrape scrap* crawl* spider aspirer* raspado extraire* extract* extraer* harvest beautifulsoup selenium playwright puppeteer 爬虫 爬取 抓取 采集 スクレイピング クロール 自動で集め
website website* web_page* webpage* site sites site_web pagina_web sitio_web page_web url urls browser* navigateur* navegador* 网站 网页 浏览器 サイト ウェブ* ブラウザ*
secret secret* credential* api_key* apikey* cle_api clave_api token tokens jeton* identifiants credencial* 密钥 凭证 令牌 秘密情報 APIキー トークン
password password* passwort mot_de_passe mots_de_passe contrasena* 密码 口令 パスワード
exposed expos* leaked compromis* published_by accident* accidentally by_mistake sin_querer par_erreur hacked pirat* 不小心 误提交 误传 被盗 うっかり 間違えて
login login* log_in logged_in sign_in signin sign-in signup connexion connecter* inicio_de_sesion iniciar_sesion authent* autentic* oauth jwt sso session_cookie 登录 认证 登陆 ログイン 認証 サインイン
permission permission* permis* privilege* role roles droits authoriz* authoris* autoriz* admin admins administrat* access_control other_user* another_user* another_customer* otro_usuario autre_utilisateur 权限 管理员 授权 越权 権限 管理者
inputcheck sanitiz* sanitis* validat* inject* inyec* xss csrf ssrf escap* hostile malicious_input search_box path_traversal upload* televers* deposer* subir_archivos sube_archivos 校验 注入 上传 跨站 入力値 アップロード インジェクション
security secur* securit* seguridad segur* safe safely vulnerab* exploit* risk* risque* riesgo* 安全 漏洞 风险 脆弱性 セキュリティ 危険 リスク
malware malware malici* malveill* virus* trojan* supply_chain typosquat* 恶意 病毒 木马 マルウェア 悪意
extension extension extensions add-on* addon* plugin* plug-in* module_complementaire complemento* 插件 扩展 拡張機能 プラグイン アドオン
personaldata personal_data personally gdpr rgpd pii privacy privat* privacid* vie_privee donnees_personnelles datos_personales consent* consentement* anonym* anonim* home_address* phone_number* 个人信息 隐私 身份证 手机号 脱敏 个人数据 個人情報 プライバシー 住所 電話番号 匿名
keepdata retention retain allowed_to_keep allowed_to_store stock* conserv* guardar* almacen* 保存 留存 存储 保管 保存期間
decline declin* refus* rechaz* say_no turn_down turn_them_down don't_want_to dont_want decir_que_no dire_non 拒绝 婉拒 推掉 不想去 断り 断る 断りたい お断り
apologize apolog* sorry_letter s'excuser excus* disculp* 道歉 致歉 謝罪 お詫び
badnews bad_news mauvaise_nouvelle mala_noticia malas_noticias annoncer* break_it_to let_go fire_someone laid_off layoff* licenci* despid* give_notice disappoint* upset angry 坏消息 告知 裁员 辞退 没通过 悪い知らせ 伝えにくい 解雇
delay delay* late retard* retraso* overdue behind_schedule postpon* slip slips 延期 推迟 拖延 遅れ 納期
boss boss* manager* chef cheffe patron jefe jefa supervisor* 老板 上司 领导 経理 上司に ceo 社长 社長 部長 課長 总监 direction_generale directeur* directora
colleague colleague* coworker* collegue* companero* teammate* team equipe* equipo* employee* employe* empleado* 同事 团队 员工 同僚 チーム 部下
landlord landlord* proprietaire* propietari* casero 房东 大家さん
complaint complain* reclam* plainte* queja* 投诉 抱怨 苦情 クレーム
apply application_letter cover_letter lettre_de_motivation carta_de_presentacion job_application resign* demission* renunci* resume_cv cv 求职信 辞职信 申请 退職届 志望動機 申請 prorroga 延期申请
polite polit* poliment* formal* formel* cortes educad* 礼貌 委婉 正式 丁寧 敬語
translate translat* traduc* tradui* 翻译 翻訳
proofread proofread* grammar* grammaire gramatica* spelling* orthograph* ortograf* typo typos faute fautes punctuation* syntax_of redaction redacci* polish* rephras* reformul* rewrite* reword* paraphras* wording style estilo tone tono sound_natural* reads_naturally 润色 改写 病句 错别字 语法 通顺 语气 措辞 添削 校正 推敲 言い換え 自然な 誤字
text text texts texto* texte* paragraph* parraf* paragraphe* essay* sentence* phrase* frase* draft* 文字 这段话 段落 句子 文章を 文章
shorten shorter shorten* raccourc* acort* concis* trim 缩短 精简 简洁 短く 簡潔
only only_change only_the only_this just_the just_fix seulement uniquement solo_cambia ne_change_que leave_the_rest rien_d'autre nothing_else nada_mas leave_alone don't_touch dont_touch keep_everything ne_touche no_toques garde_le_reste 只改 就改 只修改 别动 不要动 其他不变 保持原样 だけ直 だけ変え 他は変え それ以外
honest honest* honnet* sincer* brutal* frank* candid* franchement be_real opinion opinions avis criti* poke_holes devil's_advocate talk_me_out 说实话 真实看法 别光夸 直说 坦白 正直 率直 本音 忖度
idea idea ideas idee* concept 点子 想法 创意 アイデア 案を
business business startup* start-up* entrepris* negocio* company 创业 生意 商业 起業 事業
plan plan plans planif* planific* step_by_step etape* paso_a_paso strateg* roadmap* feuille_de_route 计划 规划 步骤 计划表 計画 手順 ステップ
estimate estimat* estimer* estima* cuantas_semanas realistically effort* story_points when_could deadline_estimate 估算 估计 工期 見積 工数 how_many_weeks combien_de_semaines 工时 估一下 工数を
task task tasks tache* tarea* todo to-do todos 任务 待办 タスク
milestone milestone* jalon* hito hitos sprint* backlog* phase phases 里程碑 マイルストーン スプリント
priority priorit* priorid* overwhelm* too_much_to_do too_many_* swamped drown* deborde* agobiad* croule* so_much_on demasiad* trop_de_travail where_to_start 优先 忙不过来 事情太多 優先 忙し やることが多
day my_day my_week ma_journee mi_semana 我的一天 这周安排 一日の予定
handover hand_over handover* hand-over hand_off handoff* hand-off passation* traspas* replacement* take_over_from new_session autre_session otra_sesion next_session leave_of_absence 交接 接班 新会话 引き継ぎ 引継
context context_window contexte contexto context window_is_full conversation_too_long 上下文 对话太长 コンテキスト
agent agent agents subagent* assistant* assistants chatbot* bot bots 智能体 助手 机器人 エージェント アシスタント ボット
tool tool tools outil* herramienta* mcp function_call* tool_call* 工具 ツール
model llm llms gpt* claude gemini modele* modelo* language_model* 大模型 语言模型 モデル LLM
prompt prompt* invite consigne* system_instruction* instruction* instruccion* 提示词 指令 プロンプト 指示
ignore ignor* doesn't_follow doesnt_follow not_follow* no_me_hace_caso n'obeit disobey* never_sticks 不听 忽略 不遵守 無視 守らない 従わない
outputformat json xml output_format format_i_asked sortie salida formato format 输出格式 出力形式
hiddentext hidden hid injected_instruction told_it_to untrusted lethal exfiltrat* oculta* cache_dans 隐藏 藏了 注入指令 隠され 埋め込まれ
verify verif* double-check* double_check check_that make_sure prove proof tested did_you_* really_work* actually_* comprueb* comprob* asegur* as-tu_* tu_l'as has_probado 验证 确认 检查一下 真的 你确定 确定 测过 跑一下 確認 本当に 検証
done done finished finish* termine* terminad* fini finie claimed 完成 弄好了 改好了 搞定 完了 終わった
sure are_you_sure es-tu_sur tu_es_sur estas_seguro certain* 确定吗 本当ですか
madeup made_up make_up hallucin* doesn't_exist really_exist* really_have exist exists existe 编的 胡编 存在 存在する 捏造
number number_come* statistic figure figures chiffre* cifra* percent* pourcent* 数字 百分比 数値
stuck stuck going_in_circles tourne_en_rond tried_everything nothing_works nada_funciona three_times tres_horas already_tried j'ai_tout_essaye 试了很多 卡住 没用 試した 直らない
vague vague ambigu* unclear pas_clair poco_claro no_esta_claro nicer something_modern quelque_chose_de algo_moderno doesn't_know_what without_saying 不明确 没说清 模糊 曖昧 はっきりしない
requirement requirement* exigence* requisito* brief briefs spec_sheet besoin besoins 需求 要求 要件 要望
folder folder* dossier* carpeta* directory director* repertoire arborescence 文件夹 目录 フォルダ
files file_names fichiers archivos ficheros fichier archivo files pdfs pdf 文件 ファイル
organize organiz* organis* rang* classer* class_my order_my ordenar* sort_my sort_out declutter* en_vrac scattered chaos tidy_up can_never_find can't_find 整理文件 归档 找不到东西 收纳 整理したい 片付け 見つからない
photo photo* foto* picture pictures image images 照片 图片 写真 画像
notes note notes nota notas notizen 笔记 メモ ノート
inbox inbox* boite_de_reception bandeja_de_entrada too_many_emails 收件箱 受信トレイ
bookmark bookmark* favoris marcador* 书签 ブックマーク
timezone timezone* time_zone_bug utc gmt daylight dst heure_d'ete horario_de_verano fuseau* zona_horaria timestamp* horodat* 时区 夏令时 时间戳 タイムゾーン 夏時間 時刻
dates date dates fecha fechas calendar_date iso_8601 日期 日付
money money price prices prix precio* cent cents centime* centimo* currency* devise* moneda* invoice* factur* amount* 金额 价格 发票 金額 価格 請求書
rounding round* arrond* redonde* decimal* float* 四舍五入 精度 丸め 小数
encoding encod* codificac* utf-8 utf8 unicode mojibake garbled* question_marks caracteres caracter* charset* 乱码 编码 问号 文字化け 文字コード
offbyone off_by_one one_hour une_heure_de decalage* una_hora desfase* 差一小时 差一天 ずれ
logs log logs logging journal* registro registros 日志 ログ
health doctor* medecin* medico* headache* 医生 病院
wrong wrong incorrect* inexact* faux fausse fausses erron* equivocad* 不对 不正确 有误 算错 間違って 間違い ずれて 合わない 正しくない おかしく
cause the_cause cause_of find_out_why why_does_it why_it la_cause averigu* 找原因 查原因 原因 なぜか 調べて原因
seconds seconds secondes segundos 秒
load load loads loading display* open_the opens affich* s'afficher charger chargement cargar cargan abrir 打开 加载 読み込 表示
growing grow grows growing increas* augment* aument* crece crecen 越来越 涨到 上涨 增长 増える 増えて 増加
click click clicks clicked clicking clique cliquer clic pulsar pulso 点击 按下 点了 押すと クリック タップ
remind remind* rappel* relanc* recordar recordatorio* recordarl* 催促 催款 催一下 督促 リマインド
candidate candidate* candidat* applicant* recruit* recrut* reclut* 候选人 应聘 面试 応募者 採用
unpaid unpaid impay* impagad* 欠款 未付款 未払い 滞納
stranger from_a_forum on_a_forum sur_un_forum en_un_foro unknown_publisher inconnu desconocid* 网上找的 来路不明 ネットで見つけ 怪しい
former former ex-customers cancelled_their anciens antiguos 前客户 注销 退会 解約した
department department* departement* departamento* 部门 部署ごと 部署別 部署の 各部署
worker worker workers 工作进程 ワーカー
`;
