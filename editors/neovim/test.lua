-- A real client: opens a project, sees diagnostics, completes, jumps and renames. Started by editors/neovim/test.

local folder = assert(vim.env.PROJECT)
local function fail(...)
  io.stderr:write('failed: ' .. table.concat(vim.tbl_map(tostring, { ... }), ' ') .. '\n')
  vim.cmd('cquit 1')
end
local function check(condition, ...)
  if not condition then
    fail(...)
  end
end
local function wait(what, condition)
  check(vim.wait(20000, condition, 50), 'no ' .. what)
end

vim.cmd('edit ' .. folder .. '/t.yml')
check(vim.bo.filetype == 'ytt', 'filetype is', vim.bo.filetype)
local get = vim.lsp.get_clients or vim.lsp.get_active_clients
wait('client', function()
  local client = get()[1]
  return client and client.initialized
end)
local client = get()[1]
local buffer = vim.api.nvim_get_current_buf()
local uri = vim.uri_from_bufnr(buffer)

local function request(method, params)
  local answer = client.request_sync(method, params, 20000, buffer)
  check(answer and not answer.err, method, vim.inspect(answer))
  return answer.result
end
local function at(line, character)
  return { textDocument = { uri = uri }, position = { line = line, character = character } }
end

-- Diagnostics: the unknown value in line 4, by push or pull.
wait('diagnostics', function()
  return #vim.diagnostic.get(buffer) > 0
end)
local found = vim.diagnostic.get(buffer)[1]
check(found.lnum == 3 and found.code == 'code/unknown-value', vim.inspect(found))

-- Completion: the keys of the schema.
local items = request('textDocument/completion', at(2, 24))
local labels = vim.tbl_map(function(item)
  return item.label
end, items.items or items)
check(vim.tbl_contains(labels, 'replicas'), 'completion is', vim.inspect(labels))

-- Definition: the key in the schema.
local places = request('textDocument/definition', at(2, 26))
check(#places == 1 and places[1].uri:match('schema.yml$') and places[1].range.start.line == 2, vim.inspect(places))

-- Renaming, in the template and in the schema.
local params = at(2, 26)
params.newName = 'copies'
local edit = request('textDocument/rename', params)
vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding)
check(vim.api.nvim_buf_get_lines(buffer, 2, 3, false)[1] == 'a: #@ data.values.copies', 'the template is not changed')
local schema = vim.fn.bufnr(folder .. '/schema.yml')
check(vim.api.nvim_buf_get_lines(schema, 2, 3, false)[1] == 'copies: 2', 'the schema is not changed')

-- The diagnostic goes when the line is mended.
vim.api.nvim_buf_set_lines(buffer, 3, 4, false, { 'b: 1' })
wait('end of diagnostics', function()
  return #vim.diagnostic.get(buffer) == 0
end)
print('neovim: diagnostics, completion, definition, rename: all well\n')
vim.cmd('qall!')
