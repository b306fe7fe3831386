import { wordLines } from './word-lines.ts';

/**
 * The commonest words of requests in other languages (German, French, Spanish, Italian, Portuguese, Dutch, Russian, Chinese, Japanese), as
 * `wordsOf` gives them: without accents, a plural s cut off. Each line: the English words to look for, and what stands for them.
 */
const lines = `
create new: erstellen anlegen erzeugen hinzufugen neu neue neuen neuer neues creer creation nouveau nouvelle crear nuevo nueva creare nuovo nuova criar novo nova maken aanmaken nieuw nieuwe создать новый новая 创建 新建 作成 新規 追加
add: hinzufugen erganzen ajouter anadir agregar aggiungere adicionar toevoegen добавить 添加 追加
delete remove: loschen entfernen supprimer effacer enlever borrar eliminar quitar eliminare cancellare rimuovere excluir apagar remover verwijderen wissen удалить 删除 移除 削除
update edit: andern bearbeiten aktualisieren modifier changer editar actualizar cambiar modificar modificare aggiornare cambiare atualizar alterar mudar wijzigen bewerken bijwerken изменить обновить 更新 修改 编辑 変更 編集
get show: zeigen anzeigen holen abrufen afficher montrer obtenir voir mostrar obtener ver mostrare ottenere vedere exibir obter tonen ophalen bekijken показать получить 查看 获取 显示 表示 取得
list: auflisten liste alle lister toutes tous listar lista todos todas elencare elenco tutti tutte lijst список 列表 列出 一覧
search find: suchen finden chercher rechercher trouver buscar encontrar cercare trovare procurar pesquisar zoeken vinden искать найти 搜索 查找 検索
send post: senden schicken verschicken envoyer enviar mandar inviare mandare sturen verzenden отправить 发送 送信
upload: hochladen televerser deposer subir cargar caricare carregar uploaden загрузить 上传 アップロード
download: herunterladen telecharger descargar scaricare baixar downloaden скачать 下载 ダウンロード
copy: kopieren copier copiar copiare скопировать 复制 コピー
move transfer: verschieben ubertragen deplacer transferer mover transferir spostare trasferire verplaatsen переместить 移动 移動
rename: umbenennen renommer renombrar rinominare renomear hernoemen переименовать 重命名
start run: starten ausfuhren demarrer lancer executer iniciar ejecutar arrancar avviare eseguire executar запустить 启动 运行 開始 実行 起動
stop cancel: stoppen anhalten beenden abbrechen arreter annuler detener parar cancelar fermare annullare interrompere stoppen annuleren остановить отменить 停止 取消 キャンセル
cancel: absagen stornieren annuler cancelar annullare
restart: neustarten redemarrer reiniciar riavviare herstarten перезапустить 重启 再起動
accept approve: annehmen akzeptieren genehmigen zusagen accepter approuver aceptar aprobar accettare approvare aceitar aprovar accepteren goedkeuren принять 接受 批准 承認
decline reject: ablehnen refuser rechazar rifiutare recusar rejeitar weigeren отклонить 拒绝 拒否
invite: einladen inviter invitar invitare convidar uitnodigen пригласить 邀请 招待
invitation: einladung invitacion invito convite uitnodiging приглашение
share: teilen freigeben partager compartir condividere compartilhar delen поделиться 分享 共有
merge: zusammenfuhren fusionner fusionar unir unire fundir samenvoegen 合并 マージ
restore: wiederherstellen restaurer restaurar ripristinare herstellen восстановить 恢复 復元
lock: sperren verrouiller bloquear bloccare
schedule: planen planifier programmer programar planificar programmare agendar plannen запланировать 安排 计划 予約
compare: vergleichen comparer comparar confrontare vergelijken сравнить 比较 比較
assign: zuweisen assigner asignar assegnare atribuir toewijzen назначить 分配
rename name: name nom nombre nome naam имя 名称 名前
issue: fehler problem vorgang probleme anomalie incidencia problema segnalazione probleem ошибка задача 问题 課題
report: melden signaler reportar informe segnalare
repository: repositorium depot repositorio deposito archief репозиторий 仓库 リポジトリ
branch: zweig branche rama ramo rami tak ветку ветка 分支 ブランチ
pull request: anderungsanfrage solicitud richiesta pedido
file: datei dateien fichier archivo fichero arquivo ficheiro bestand bestanden файл 文件 ファイル
folder: ordner verzeichni dossier repertoire carpeta cartella cartelle pasta map mappen папку папка 文件夹 フォルダ
document: dokument dokumente documento документ 文档 文書
message: nachricht nachrichten mensaje messaggio messaggi mensagem mensagen bericht berichten сообщение 消息 信息 メッセージ
channel: kanal kanale canal canale canali kanaal канал 频道 チャンネル
comment: kommentar kommentare commentaire comentario commento commenti opmerking комментарий 评论 コメント
user: benutzer nutzer utilisateur usuario utente utenti utilizador gebruiker пользователь пользователя 用户 ユーザー
member: mitglied mitglieder membre miembro membro membri lid leden участник участников 成员 メンバー
team: mannschaft equipe equipo squadra команда 团队 チーム
group: gruppe gruppen groupe grupo gruppo gruppi groep группа 组 グループ
event meeting: termin termine besprechung sitzung treffen reunion rendez reunione evento eventi reuniao afspraak vergadering встреча событие 会议 日程 会議 予定
calendar: kalender calendrier calendario kalender календарь 日历 カレンダー
container: conteneur contenedor contenedore contentor contenitore контейнер 容器 コンテナ
image: bild bilder imagen immagine immagini imagem afbeelding изображение образ 图像 镜像 画像 イメージ
network: netzwerk netz reseau red rete rede netwerk сеть 网络 ネットワーク
weather forecast: wetter vorhersage wettervorhersage meteo prevision tiempo pronostico previsioni previsione previsao tempo weer voorspelling погода прогноз 天气 预报 天気 予報
hourly: stundlich stunde horaire hora orario uur
alert warning: warnung warnungen alerte avertissement alerta aviso avviso allerta waarschuwing предупреждение 警报 警告
order: bestellung commande pedido ordine bestelling заказ 订单 注文
price: preis prix precio prezzo preco prijs цена 价格 価格
customer: kunde kunden client cliente clienti klant клиент 客户 顧客
link: verknupfung lien enlace collegamento ссылка 链接 リンク
version: fassung versionen versione versoen versie версия 版本 バージョン
password secret: passwort kennwort mot motdepasse contrasena senha wachtwoord пароль 密码 パスワード
key: schlussel cle clave chiave chave sleutel ключ 密钥
permission access: berechtigung zugriff rechte droit acce permiso acceso permesso accesso permissao acesso toegang доступ 权限 権限
log: protokoll journal registro registri 日志 ログ
label: etikett etiquette etiqueta etichetta метка 标签 ラベル
task: aufgabe aufgaben tache tarea compito tarefa taak задача 任务 タスク
reminder: erinnerung rappel recordatorio promemoria lembrete herinnering напоминание 提醒
time: zeit uhrzeit heure hora ora tijd время 时间 時間
room: raum zimmer salle sala stanza kamer ruimte комната 会议室
table: tisch mesa tavolo tafel
pet: haustier tier animal mascota huisdier
`;

export const translations = wordLines(lines, { onlyAfter: true });
