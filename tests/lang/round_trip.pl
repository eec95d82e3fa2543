#!/usr/bin/perl
# round_trip.pl TOOL WORK FILE... - print what is wrong with the texts that
# `lang_tool print` makes of the trees of files: each must be laid out already,
# and compile to the same tree. A file of task types alone has no tree.
#
# The trees are given as the compiler makes them, as the workspace keeps them
# (members in the order of jsonb), and with another comment at each task type:
# then none of them is that of the standard library, and all are printed.
use strict;
use warnings;
use JSON::PP;

my ($tool, $work, @files) = @ARGV;
my $json = JSON::PP->new->canonical->allow_nonref->allow_bignum;
my $stored = JSON::PP->new->allow_nonref->allow_bignum->sort_by(
    sub { length $JSON::PP::a <=> length $JSON::PP::b || $JSON::PP::a cmp $JSON::PP::b });
my $printed = 0;

sub output {
    open my $in, '-|', @_ or die "cannot run $_[0]: $!\n";
    local $/;
    return <$in> // '';
}

sub keep {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "cannot write $path: $!\n";
    print $out $text;
    close $out or die "cannot write $path: $!\n";
}

# Calls of a workflow that differ get numbers in the text; lines do not count.
sub simplify {
    my ($node) = @_;
    if (ref $node eq 'ARRAY') { simplify($_) for @$node }
    elsif (ref $node eq 'HASH') {
        $node->{workflow} =~ s/_[0-9]+$// if ($node->{kind} // '') eq 'call';
        delete $node->{line};
        simplify($_) for values %$node;
    }
}

sub say_wrong {
    my ($file, $what, $text) = @_;
    print "$file: $what\n$text\n";
}

sub compare {
    my ($file, $one, $two) = @_;
    my %compiled = map { $_->{name} => $_ } @{ $two->{workflows} };
    for my $workflow (@{ $one->{workflows} }) {
        my ($a, $b) = map { $json->encode($_ // '') } $workflow, $compiled{ $workflow->{name} };
        say_wrong($file, "$workflow->{name} is another one", "$a\n$b") if $a ne $b;
    }
    for my $name (keys %{ $one->{task_types} }) {
        my ($a, $b) = map { $json->encode($_->{task_types}{$name} // '') } $one, $two;
        say_wrong($file, "$name is another one", "$a\n$b") if $a ne $b;
    }
}

sub check {
    my ($file, $tree) = @_;
    keep("$work/tree.json", $tree);
    my $text = output($tool, 'print', "$work/tree.json");
    return say_wrong($file, 'is not printed', $text) if $text =~ /^\S+: error: /m;
    my ($name) = $file =~ m{([^/]+)$};
    keep("$work/$name", $text);
    my $laid_out = output($tool, 'fmt', "$work/$name");
    say_wrong($file, 'is not laid out', $text) if $laid_out ne $text;
    my $again = output($tool, 'compile', "$work/$name");
    return say_wrong($file, 'does not compile', $again) if $again !~ /^\{/;
    my ($one, $two) = map { $json->decode($_) } $tree, $again;
    simplify($_) for $one, $two;
    compare($file, $one, $two);
    $printed++;
}

for my $file (@files) {
    my ($folder) = $file =~ m{^(.*)/};
    my $tree = output($tool, 'compile', '-I', 'lib', '-I', $folder, '-L', 'lib', $file);
    next if $tree =~ /A file of task types is a library/;
    if ($tree !~ /^\{/) { say_wrong($file, 'does not compile', $tree); next }
    my $parsed = $json->decode($tree);
    check($file, $tree);
    check($file, $stored->encode($parsed));
    $_->{doc} = 'Another comment.' for values %{ $parsed->{task_types} };
    check($file, $stored->encode($parsed));
}
print "nothing was printed\n" if !$printed;
