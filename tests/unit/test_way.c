/* The way to a file: which directories and links it may have. */
#include "common/way.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/error.h"
#include "tests/unit/private.h"
#include "tests/unit/unit.h"

static char base[256];

/* What is called `name` in the directory of the test, for free(). */
static char *
at(const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", base, name) > 0);
	return path;
}

static void
make_directory(const char *name, mode_t mode)
{
	char *path = at(name);

	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

static void
make_file(const char *name)
{
	char *path = at(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
	free(path);
}

static void
make_link(const char *target, const char *name)
{
	char *path = at(name);

	assert_int_equal(symlink(target, path), 0);
	free(path);
}

/* errno of going to `name`, 0 if it can be opened; a refusal has a hint. */
static int
go(const char *name, int flags, mode_t make, bool is_shared)
{
	char *path = at(name);
	struct way way = { .path = path, .make = make };
	struct error err = { 0 };
	int fd = way_open(&way, flags, &err), code = fd >= 0 ? 0 : errno;

	assert_int_equal(fd < 0, err.message != NULL);
	if (code == EPERM)
		assert_non_null(err.hint);
	if (fd >= 0) {
		close(fd);
		assert_int_equal(way.shared != NULL, is_shared);
	}
	error_release(&err);
	free(way.shared);
	free(path);
	return code;
}

static int
set_up(void **state)
{
	(void)state;
	assert_true(private_directory(base, sizeof(base)));
	make_directory("good", 0711);
	make_directory("good/deep", 0700);
	make_directory("open", 0757);
	make_directory("open/deep", 0700);
	make_directory("shared", 01777);
	make_directory("shared/deep", 0700);
	make_file("good/file");
	make_file("good/deep/file");
	make_file("open/file");
	make_file("open/deep/file");
	make_file("shared/file");
	make_file("shared/deep/file");
	return 0;
}

static int
tear_down(void **state)
{
	char *command = NULL;
	int code;

	(void)state;
	assert_true(asprintf(&command, "rm -rf '%s'", base) > 0);
	code = system(command);
	free(command);
	return code;
}

static void
test_directories(void **state)
{
	(void)state;
	assert_int_equal(go("good/file", O_RDONLY, 0, false), 0);
	assert_int_equal(go("good/deep/file", O_RDONLY, 0, false), 0);
	assert_int_equal(go("good//deep/./../file", O_RDONLY, 0, false), 0);
	assert_int_equal(go("good/file/", O_RDONLY, 0, false), ENOTDIR);
	assert_int_equal(go("good/file/x", O_RDONLY, 0, false), ENOTDIR);
	assert_int_equal(go("good/none", O_RDONLY, 0, false), ENOENT);
	assert_int_equal(go("none/none", O_RDONLY, 0, false), ENOENT);
	assert_int_equal(go("open/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(go("open/deep/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(go("open/../good/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(go("shared/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(go("shared/deep/file", O_RDONLY, 0, true), 0);
}

static void
test_links(void **state)
{
	(void)state;
	make_link("good/file", "one");
	make_link("one", "two");
	make_link("good/./deep/", "dir");
	make_link(base, "good/back");
	make_link("self", "self");
	make_link("nowhere", "dangling");
	make_link("open/deep", "led");
	make_link("../good/file", "shared/link");
	make_link("../../good/file", "shared/deep/link");
	assert_int_equal(go("one", O_RDONLY, 0, false), 0);
	assert_int_equal(go("two", O_RDONLY, 0, false), 0);
	assert_int_equal(go("two/x", O_RDONLY, 0, false), ENOTDIR);
	assert_int_equal(go("dir/file", O_RDONLY, 0, false), 0);
	assert_int_equal(go("dir/../file", O_RDONLY, 0, false), 0);
	assert_int_equal(go("good/back/dir/file", O_RDONLY, 0, false), 0);
	assert_int_equal(go("self", O_RDONLY, 0, false), ELOOP);
	assert_int_equal(go("dangling", O_RDONLY, 0, false), ENOENT);
	assert_int_equal(go("led/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(go("shared/link", O_RDONLY, 0, true), EPERM);
	assert_int_equal(go("shared/deep/link", O_RDONLY, 0, true), 0);
}

static void
test_owners(void **state)
{
	char *dir = at("good/deep"), *link;

	(void)state;
	if (geteuid() != 0) {
		free(dir);
		skip();
	}
	make_link("good/file", "theirs");
	link = at("theirs");
	assert_int_equal(lchown(link, 65534, 65534), 0);
	assert_int_equal(go("theirs", O_RDONLY, 0, false), EPERM);
	assert_int_equal(chown(dir, 65534, 65534), 0);
	assert_int_equal(go("good/deep/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(chown(dir, 0, 65534), 0);
	assert_int_equal(chmod(dir, 0770), 0);
	assert_int_equal(go("good/deep/file", O_RDONLY, 0, false), EPERM);
	assert_int_equal(chmod(dir, 0750), 0);
	assert_int_equal(go("good/deep/file", O_RDONLY, 0, false), 0);
	free(link);
	free(dir);
}

static void
test_what_is_made(void **state)
{
	const int flags = O_PATH | O_DIRECTORY;
	char *path = at("new/a/b");
	struct stat status;

	(void)state;
	assert_int_equal(go("new/a/b", flags, 0, false), ENOENT);
	assert_int_equal(go("new/a/b", flags, 0710, false), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0710);
	assert_int_equal(go("new/a/b", flags, 0755, false), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0710);
	assert_int_equal(go("good/file", flags, 0700, false), ENOTDIR);
	assert_int_equal(go("open/new", flags, 0700, false), EPERM);
	assert_int_equal(go("shared/new/b", flags, 0700, true), 0);
	free(path);
}

static void
check(const char *name, bool is_secret, mode_t mode, bool expected)
{
	char *path = at(name);
	struct error err = { 0 };

	if (mode != 0)
		assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(way_check(path, is_secret, &err), expected);
	assert_int_equal(err.message == NULL, expected);
	assert_int_equal(err.hint == NULL, expected);
	error_release(&err);
	free(path);
}

static void
test_files(void **state)
{
	(void)state;
	check("good/file", false, 0644, true);
	check("good/file", true, 0644, false);
	check("good/file", true, 0600, true);
	check("good/file", false, 0606, false);
	check("good/file", false, 0600, true);
	check("shared/deep/file", false, 0600, true);
	check("shared/deep/file", true, 0600, false);
	check("open/file", false, 0600, false);
	check("good/missing", true, 0, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_what_is_made),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
