package rules

import "strings"

// set makes a set of the words of the texts.
func set(texts ...string) map[string]bool {
	words := make(map[string]bool)
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			words[word] = true
		}
	}
	return words
}

var (
	// pythonKeywords cannot name anything in Python.
	pythonKeywords = set(`False None True and as assert async await break class continue def del
		elif else except finally for from global if import in is lambda nonlocal not or pass raise
		return try while with yield`)

	// goKeywords cannot name a Go package, and `main`, `internal`, `vendor` and
	// `testdata` mean something to the go command.
	goKeywords = set(`break case chan const continue default defer else fallthrough for func go goto
		if import interface map package range return select struct switch type var`,
		`main internal vendor testdata`)

	// windowsDevices cannot name a file or folder on Windows, with any extension.
	windowsDevices = set(`con prn aux nul com0 com1 com2 com3 com4 com5 com6 com7 com8 com9
		lpt0 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9`)

	// pythonModules are the public top-level modules of the standard library, of
	// Python 3.11 to 3.14.
	pythonModules = set(`abc aifc annotationlib antigravity argparse array ast asynchat asyncio
		asyncore atexit audioop base64 bdb binascii bisect builtins bz2 calendar cgi cgitb chunk
		cmath cmd code codecs codeop collections colorsys compileall compression concurrent
		configparser contextlib contextvars copy copyreg cprofile crypt csv ctypes curses
		dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip
		enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib
		functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac
		html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword
		lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap
		modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers
		opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil
		platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr
		pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter
		runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr
		socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics
		string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile
		telnetlib tempfile termios test textwrap this threading time timeit tkinter token tokenize
		tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata
		unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref
		xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`)

	// runtimeModules are the importable names that generated code, its tests and
	// its libraries bring along.
	runtimeModules = set(`aiosqlite annotated_types anyio certifi conftest google grpc h11 httpcore
		httpcore2 httpx httpx2 idna jsonpatch jsonpointer langchain langchain_core
		langchain_protocol langgraph langgraph_sdk langsmith mypy orjson ormsgpack packaging pip
		pluggy pydantic pydantic_core pygments pytest requests ruff setup setuptools
		sitecustomize sniffio sqlite_vec templates tenacity tests truststore typing_extensions
		typing_inspection urllib3 usercustomize uuid_utils websockets xxhash yaml zstandard`)

	// langGraphChannels are the channel and node names that LangGraph keeps for
	// itself, besides all names that begin with `__`.
	langGraphChannels = set(`checkpoint_id checkpoint_map checkpoint_ns configurable`)

	// einoNodes are the node names that Eino keeps for itself.
	einoNodes = set(`start end`)

	// toolModules are the modules that stand beside those of the tools.
	toolModules = set(`registry generated`)
)
