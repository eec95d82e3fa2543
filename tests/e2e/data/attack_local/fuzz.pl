#!/usr/bin/env perl
# fuzz.pl DIRECTORY GUARD SEED ROUNDS - random directories for `local`, as
# somebody else might have prepared them.
#
# Each round makes a directory with all that `local` touches: each part is as
# it has to be, or a link, a hard link, a FIFO, a device or something of
# another owner or mode. If one part or the way is not as it has to be, root
# has to refuse it, or else to come as far as the server, which does not start
# since its cluster has nothing but a version. The directory GUARD, where the
# links lead, has to stay as it was.
use strict;
use warnings;
use Digest::MD5 'md5_hex';
use File::Find;
use POSIX 'mkfifo';

my ($base, $guard, $seed, $rounds) = @ARGV;
my %uid = map { $_ => scalar getpwnam $_ } qw(root postgres nobody);
my $round = 0;
my ($bad, @story);
srand $seed;

sub one_of { $_[rand @_] }

sub chance { rand() < $_[0] }

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!";
    print $file $text;
    close $file;
}

# What may be where a part has to be. Each makes it and is always wrong.
my %wrong = (
    link => sub { symlink one_of("$guard/file", "$guard/dir", "$guard/new", "/dev/zero", "$guard/fifo"), $_[0] },
    own_link => sub { write_file("$_[0].real", "15\n"); symlink "$_[0].real", $_[0]; },
    hard_link => sub { link "$guard/file", $_[0] },
    fifo => sub { mkfifo($_[0], 0600) },
    device => sub { system 'mknod', $_[0], 'c', 1, one_of(3, 5) },
    directory => sub { mkdir $_[0], 0700 },
    file => sub { write_file($_[0], "1\n") },
);

sub remember { push @story, join ' ', @_ }

# A part: right, or one of the ways to be wrong.
sub part {
    my ($path, $kind, $owner) = @_;
    if (chance(0.05)) {
        my $how = one_of(grep { $_ ne $kind } sort keys %wrong);
        $wrong{$how}->($path);
        lchown($uid{ one_of(qw(root postgres nobody)) }, $path) if $how =~ /link/ && $how ne 'hard_link';
        remember($path, $how);
        return $bad = 1;
    }
    $kind eq 'directory' ? mkdir $path, 0700 : write_file($path, "15\n");
    chmod $kind eq 'directory' ? 0700 : 0600, $path;
    # a directory of root's instead of the server's may be left from a start
    my @others = grep { $_ ne $owner && ($kind ne 'directory' || $_ ne 'root') } sort keys %uid;
    my $whose = chance(0.03) ? one_of(@others) : $owner;
    my $mode = chance(0.03) ? one_of(0770, 0702, 0666) : undef;
    $bad = 1 if $whose ne $owner || defined $mode;
    chown $uid{$whose}, 0, $path;
    chmod $mode, $path if defined $mode;
    remember($path, $whose, defined $mode ? sprintf '%o', $mode : ()) if $whose ne $owner || defined $mode;
    return 0;
}

# Perl has no lchown.
sub lchown { system 'chown', '-h', @_ }

# A directory of the way. One like /tmp will do, but not as the last.
sub way {
    my ($path, $is_last) = @_;
    mkdir $path;
    my $owner = chance(0.06) ? one_of('postgres', 'nobody') : 'root';
    my $mode = chance(0.08) ? one_of(0775, 0777, 01777) : 0755;
    chown $uid{$owner}, $uid{$owner}, $path;
    chmod $mode, $path;
    $bad = 1 if $owner ne 'root' || $mode == 0775 || $mode == 0777 || ($is_last && $mode == 01777);
    remember($path, $owner, sprintf '%o', $mode) if $owner ne 'root' || $mode != 0755;
    return $owner eq 'root' && $mode == 0755;
}

# The directory to name: now and then by a link, or with "..".
sub name_of {
    my ($top, $is_safe) = @_;
    return "$top/../" . ($top =~ s|.*/||r) . '//./place' if chance(0.1);
    return "$top/place" unless chance(0.1);
    my $owner = one_of('root', 'postgres');
    symlink one_of('place', "$top/place"), "$top/alias";
    lchown($uid{$owner}, "$top/alias");
    $bad = 1 if $owner ne 'root' || !$is_safe;
    remember("$top/alias", $owner);
    return "$top/alias";
}

sub prepare {
    my $top = "$base/$round";
    my $is_safe = way($top, 0);
    my $place = "$top/place";
    way($place, 1);
    my $no_data = part("$place/data", 'directory', 'postgres');
    my $no_run = part("$place/run", 'directory', 'postgres');
    my $no_log = part("$place/log", 'directory', 'root');
    for (qw(lock driver.conf driver.pid)) { part("$place/$_", 'file', 'root') if chance(0.5) }
    unless ($no_log) {
        for (qw(server.log driver.log)) { part("$place/log/$_", 'file', 'root') if chance(0.5) }
    }
    unless ($no_data) {
        part("$place/data/PG_VERSION", 'file', 'postgres');
        for (qw(pgwf.conf postgresql.conf postmaster.pid)) {
            symlink one_of("$guard/file", "$guard/new"), "$place/data/$_" if chance(0.3);
        }
    }
    if (!$no_run && chance(0.1)) {
        $wrong{ one_of(qw(link fifo file directory)) }->("$place/run/.s.PGSQL.5432");
        remember('socket');
        $bad = 1;
    }
    return name_of($top, $is_safe);
}

# All of the guard: who owns it, what may be done with it, what is in it.
sub guard_state {
    my @lines;
    find({ no_chdir => 1, wanted => sub {
        my @s = lstat $_ or die "$_: $!";
        my $text = '';
        if (-f _) {
            open my $file, '<', $_ or die "$_: $!";
            local $/;
            $text = md5_hex(<$file> // '');
        }
        push @lines, join ' ', $_, @s[2, 4, 5, 6, 7, 9], $text;
    } }, $guard);
    return join "\n", sort @lines;
}

my $before = guard_state();
my %count = (refused => 0, reached => 0);
my $failures = 0;
while ($round++ < $rounds) {
    ($bad, @story) = (0);
    my $name = prepare();
    my $verb = one_of('start', 'start', 'start', 'status', 'stop');
    my $said = `timeout 20 wf-console local $verb --dir '$name' 2>&1 </dev/null`;
    my $refused = $said =~ /may be changed by others|have prepared it/;
    my $wrong = $? >> 8 == 124 ? 'it hangs'
        : $refused && !$bad ? 'a good one is refused'
        : !$refused && $bad ? 'a bad one is taken'
        : $refused && $said !~ /^hint: /m ? 'there is no hint'
        : !$bad && $verb eq 'start' && $said !~ /PostgreSQL does not start/ ? 'a good one does not reach the server'
        : guard_state() ne $before ? 'the guard was changed' : undef;
    $count{ $bad ? 'refused' : 'reached' }++;
    if (defined $wrong) {
        print "round $round of seed $seed, local $verb: $wrong\n  $said  ", join("\n  ", @story), "\n";
        last if ++$failures == 5;
    }
    system 'rm', '-rf', "$base/$round";
}
print "$failures failures\n";
print STDERR "# seed $seed: $count{refused} refused, $count{reached} came to the server\n";
