;;; ytterby.el --- ytt templates with ytterby lsp -*- lexical-binding: t -*-

;; Needs eglot (part of Emacs 29) and yaml-mode or yaml-ts-mode. Load it from your init file:
;;   (load "/path/to/editors/emacs/ytterby.el")

;;; Code:

(defvar ytterby-program "ytterby"
  "The ytterby program.")

(defconst ytterby--parent
  (cond ((fboundp 'yaml-ts-mode) 'yaml-ts-mode)
        ((fboundp 'yaml-mode) 'yaml-mode)
        (t 'text-mode))
  "The mode that highlights YAML.")

(eval
 `(define-derived-mode ytt-mode ,ytterby--parent "ytt"
    "Templates, schemas and overlays of ytt."
    (setq-local comment-start "#! ")))

(eval
 `(define-derived-mode ytt-values-mode ,ytterby--parent "ytt-values"
    "Values files of ytt."))

(add-to-list 'auto-mode-alist '("\\.star\\'" . ytt-mode))
(add-to-list 'auto-mode-alist '("\\.lib\\.ya?ml\\'" . ytt-mode))
(add-to-list 'auto-mode-alist '("\\.values\\.ya?ml\\'" . ytt-values-mode))
(add-to-list 'magic-mode-alist '("\\`#@" . ytt-mode))

(defun ytterby--contact (&rest _)
  "How eglot starts the server."
  (list ytterby-program "lsp"))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               '(((ytt-mode :language-id "ytt") (ytt-values-mode :language-id "ytt-values"))
                 . ytterby--contact)))

(add-hook 'ytt-mode-hook #'eglot-ensure)
(add-hook 'ytt-values-mode-hook #'eglot-ensure)

(provide 'ytterby)
;;; ytterby.el ends here
