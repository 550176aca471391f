;;; test.el --- ytterby.el with eglot against the server -*- lexical-binding: t -*-

;; A real client: opens a project, sees diagnostics, completes, jumps and renames. Started by editors/emacs/test.

;;; Code:

(require 'eglot)
(require 'flymake)
(require 'xref)

(defvar folder (getenv "PROJECT"))
(setq ytterby-program (getenv "YTTERBY")
      eglot-autoshutdown nil
      eglot-confirm-server-initiated-edits nil
      create-lockfiles nil)
;; The folder of the project file is the project.
(defun ytterby-test-project (directory)
  "The project of DIRECTORY."
  (let ((root (locate-dominating-file directory "ytterby.yml")))
    (and root (cons 'transient root))))
(add-hook 'project-find-functions #'ytterby-test-project)

(defun check (condition what)
  "Exit unless CONDITION holds for WHAT."
  (unless condition
    (message "failed: %s" what)
    (kill-emacs 1)))

(defun wait (what condition)
  "Wait until WHAT is there: CONDITION returns it."
  (let ((end (time-add nil 20)) found)
    (while (and (not (setq found (funcall condition))) (time-less-p nil end))
      (accept-process-output nil 0.1))
    (check found (format "no %s" what))
    found))

(find-file (expand-file-name "t.yml" folder))
(check (eq major-mode 'ytt-mode) (format "the mode is %s" major-mode))
(apply #'eglot (eglot--guess-contact))
(wait "server" #'eglot-current-server)

;; Diagnostics: the unknown value in line 4.
(flymake-mode 1)
(flymake-start)
(let ((found (wait "diagnostics" #'flymake-diagnostics)))
  (check (= (line-number-at-pos (flymake-diagnostic-beg (car found))) 4) "the diagnostic is on another line"))

;; Completion: the keys of the schema.
(goto-char (point-min))
(search-forward "data.values.")
(let* ((capf (eglot-completion-at-point))
       (all (all-completions "" (nth 2 capf))))
  (check (seq-some (lambda (item) (string-match-p "replicas" item)) all) (format "completion is %s" all)))

;; Definition: the key in the schema.
(let* ((found (xref-backend-definitions 'eglot "replicas"))
       (place (and found (xref-item-location (car found)))))
  (check (and place (string-match-p "schema.yml" (xref-location-group place))) "no definition in the schema"))

;; Renaming, in the template and in the schema; eglot asks before it edits a file that is not open.
(fset 'y-or-n-p #'always)
(eglot-rename "copies")
(check (save-excursion (goto-char (point-min)) (search-forward "data.values.copies" nil t)) "the template is not changed")
(with-current-buffer (find-file-noselect (expand-file-name "schema.yml" folder))
  (check (string-match-p "copies: 2" (buffer-string)) "the schema is not changed"))

(message "emacs %s: diagnostics, completion, definition, rename: all well" emacs-version)
(kill-emacs 0)
;;; test.el ends here
